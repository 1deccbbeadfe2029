#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "feed/data/image_decoder.h"

namespace unstarve::feed {

/// Whether a file begins as a bitmap does.
bool is_bmp(std::span<const std::byte> file);

/// Decodes rectangles of BMP files to RGB; pixels are those of PIL's convert("RGB").
/// Source: https://learn.microsoft.com/windows/win32/gdi/bitmap-storage
/// Errors: kNotSupported for what is compressed, has bit fields or other than 8, 24 or 32 bits a
/// pixel; kCorruptData where the file ends before its image does.
class BmpDecoder final : public ImageDecoder {
 public:
  explicit BmpDecoder(std::int64_t max_pixels) : max_pixels_(max_pixels) {}
  Result<ImageSize> open(std::span<const std::byte> file) override;
  Status decode(const Box& region, RowSink& sink) override;

 private:
  using Colour = std::array<std::uint8_t, 3>;  // red, green, blue
  Status read_palette(std::span<const std::byte> file, std::size_t at, std::size_t count);
  /// Row `y` of the image, counted from the top.
  const std::uint8_t* row(int y) const;
  Status convert(const std::uint8_t* pixels, int width, std::uint8_t* rgb) const;

  std::int64_t max_pixels_ = 0;
  std::span<const std::byte> pixels_;  // all rows, as they lie
  ImageSize size_;
  std::size_t stride_ = 0;
  int bits_ = 0;  // of a pixel
  bool from_the_top_ = false;
  std::vector<Colour> palette_;
  std::vector<std::uint8_t> rows_;  // with padding
};

}  // namespace unstarve::feed
