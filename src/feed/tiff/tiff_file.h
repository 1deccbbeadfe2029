#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "feed/data/geometry.h"
#include "feed/tiff/tiff_directory.h"

namespace unstarve::feed {

enum class TiffPacking : std::uint8_t { kNone, kLzw, kDeflate, kPackBits };

enum class TiffColour : std::uint8_t {
  kTable,  // a sample of 1 to 8 bits is an index of `colours`: greys too
  kRgb,
  kCmyk,
};

/// What the pixels of a TIFF's first image need.
struct TiffFile {
  ImageSize size;
  TiffPacking packing = TiffPacking::kNone;
  bool is_differences = false;  // of each sample to the one to its left
  TiffColour colour = TiffColour::kRgb;
  bool is_rgb = false;  // PIL's mode is
  int bits = 8;         // of a sample
  int samples = 3;      // of a pixel; those behind its colour are passed over
  std::array<std::array<std::uint8_t, 3>, 256> colours;
  /// Strips, which are as wide as the image and whose last one may be shorter, or tiles.
  ImageSize piece;
  bool is_tiled = false;
  int pieces_across = 1;
  std::vector<std::span<const std::byte>> pieces;  // row by row

  std::size_t bytes_of_a_row() const;  // of a piece
  /// Of piece `index`, as it is stored.
  int rows_of(std::size_t index) const;
};

/// Reads the tags of `file`, which must stay valid as long as `tiff`, whose memory is kept.
/// Errors: kCorruptData for what is damaged or cut short, kNotSupported for what PIL alone should
/// judge, and for more than `max_pixels`.
Status read_tiff(std::span<const std::byte> file, std::int64_t max_pixels, TiffFile& tiff);

}  // namespace unstarve::feed
