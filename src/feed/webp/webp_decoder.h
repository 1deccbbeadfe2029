#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "feed/data/image_decoder.h"

namespace unstarve::feed {

/// Whether a file begins as a WebP does.
bool is_webp(std::span<const std::byte> file);

/// Decodes rectangles of WebP files to RGB by libwebp; pixels are those of PIL's convert("RGB"),
/// which drops transparency.
/// Errors: kNotSupported for animations and images that are too large; kCorruptData for what is
/// damaged or cut short.
class WebpDecoder final : public ImageDecoder {
 public:
  explicit WebpDecoder(std::int64_t max_pixels) : max_pixels_(max_pixels) {}
  Result<ImageSize> open(std::span<const std::byte> file) override;
  Status decode(const Box& region, RowSink& sink) override;

 private:
  std::int64_t max_pixels_ = 0;
  std::span<const std::byte> file_;
  ImageSize size_;
  std::vector<std::uint8_t> pixels_;  // of the region and a margin around it, with padding
};

}  // namespace unstarve::feed
