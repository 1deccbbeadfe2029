#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "feed/data/image_decoder.h"
#include "feed/gif/gif_file.h"
#include "feed/lzw/lzw.h"

namespace unstarve::feed {

/// Decodes rectangles of the first image of GIF files to RGB; pixels are those of PIL's
/// convert("RGB"), which drops transparency.
/// Errors: kNotSupported for what PIL alone should judge, kCorruptData where the file is damaged or
/// ends before its image does.
class GifDecoder final : public ImageDecoder {
 public:
  explicit GifDecoder(std::int64_t max_pixels) : max_pixels_(max_pixels) {}
  Result<ImageSize> open(std::span<const std::byte> file) override;
  Status decode(const Box& region, RowSink& sink) override;

 private:
  Status check_colours(std::span<const std::uint8_t> indices) const;
  void convert(const std::uint8_t* indices, int count, std::uint8_t* rgb) const;
  void write_row(std::span<const std::uint8_t> indices, int y, const Box& region,
                 std::uint8_t* rgb) const;

  std::int64_t max_pixels_ = 0;
  GifFile gif_;
  std::vector<std::byte> codes_;  // of all blocks
  LzwUnpacker unpacker_;
  std::vector<std::uint8_t> rows_;  // with padding
};

}  // namespace unstarve::feed
