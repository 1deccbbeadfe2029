#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "feed/data/geometry.h"
#include "feed/formats/image_format.h"
#include "feed/transform/resize_sink.h"

namespace unstarve::feed {

/// Decodes single images in the calling thread, for whoever has drawn himself what he wants of
/// them.
///
///   ImageCutter cutter(limits);
///   cutter.cut(file, geometry, pixels);   // 3 * window.width * window.height bytes
///
/// Keeps its memory from image to image. Thread rule: one thread at a time.
class ImageCutter {
 public:
  explicit ImageCutter(const DecodeLimits& limits);
  /// Leaves the window's rows of RGB pixels at `out`; there is no frame. Errors: kInvalidArgument
  /// where the crop is not inside the image, the window does not meet the target, or `out` has
  /// another size; those of the decoder; kOutOfMemory.
  Status cut(std::span<const std::byte> file, const SampleGeometry& geometry,
             std::span<std::uint8_t> out);

 private:
  Status decode(ImageDecoder& decoder, std::span<const std::byte> file,
                const SampleGeometry& geometry, std::uint8_t* out);

  const std::int64_t max_pixels_;
  SteadyClock clock_;
  FileFormats formats_;
  ResizeSink sink_;
};

}  // namespace unstarve::feed
