#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "feed/data/geometry.h"
#include "feed/jpeg/libjpeg/jpeg_decoder.h"

namespace unstarve::feed {

/// What is left of an image after it was a JPEG file. Keeps its memory from image to image. Thread
/// rule: one thread at a time.
class JpegLoss {
 public:
  /// Encodes RGB rows without gaps as encode_jpeg() does, and leaves at `pixels` what is decoded of
  /// that. After an error some rows may have changed.
  Status apply(int quality, std::span<std::uint8_t> pixels, ImageSize size);

 private:
  std::optional<JpegDecoder> decoder_;
  std::vector<std::byte> file_;
};

}  // namespace unstarve::feed
