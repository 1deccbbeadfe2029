#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "feed/data/image_decoder.h"
#include "feed/tiff/tiff_file.h"
#include "feed/tiff/tiff_pieces.h"

namespace unstarve::feed {

/// Decodes rectangles of the first image of TIFF files to RGB; pixels are those of PIL's
/// convert("RGB"). Unpacks the strips or tiles that the rectangle touches.
/// Errors: kNotSupported for what PIL alone should judge, kCorruptData where the file is damaged or
/// ends before its image does.
class TiffDecoder final : public ImageDecoder {
 public:
  explicit TiffDecoder(std::int64_t max_pixels) : max_pixels_(max_pixels) {}
  Result<ImageSize> open(std::span<const std::byte> file) override;
  Status decode(const Box& region, RowSink& sink) override;

 private:
  Status place(std::size_t piece, const Box& part, const Box& region);
  void convert(const std::uint8_t* row, int first, int count, std::uint8_t* rgb) const;

  std::int64_t max_pixels_ = 0;
  TiffFile tiff_;
  TiffPieces pieces_;
  std::vector<std::uint8_t> rows_;  // of the region, as high as a piece, with padding
};

/// Whether PIL opens a file that begins as a TIFF in its mode RGB; false where nobody can tell.
bool tiff_is_rgb(std::span<const std::byte> file);
/// Whether it may have to be turned. PIL turns a TIFF itself, so that none is decoded here that
/// may; true where nobody can tell.
bool tiff_may_turn(std::span<const std::byte> file);

}  // namespace unstarve::feed
