#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace unstarve::feed {

/// Whether a file begins as a PNG does.
bool is_png(std::span<const std::byte> file);

/// As the header numbers them.
enum class PngColour : std::uint8_t {
  kGrey = 0,
  kRgb = 2,
  kPalette = 3,
  kGreyAlpha = 4,
  kRgbAlpha = 6,
};

/// One part of a file, as it lies there: what its four letters say that it is, and what it holds.
struct PngChunk {
  std::span<const std::byte> letters_and_held;
  std::uint32_t checksum = 0;  // of those, as the file says

  std::string_view kind() const;
  std::span<const std::byte> held() const { return letters_and_held.subspan(4); }
  bool is_sound() const;
};

/// The parts of a PNG that its pixels need.
struct PngFile {
  int width = 0;
  int height = 0;
  int depth = 0;  // bits of a sample: 1, 2, 4, 8 or 16
  PngColour colour = PngColour::kGrey;
  bool is_interlaced = false;
  bool ends_with_pixels = false;                     // nothing but the end follows them
  std::vector<std::array<std::uint8_t, 3>> palette;  // red, green, blue
  std::vector<PngChunk> data;                        // what they hold is one zlib stream

  /// Samples of a pixel, 1 to 4.
  int channels() const;
  int bits_of_a_pixel() const { return channels() * depth; }
  /// Of a row of `width` pixels, without the byte that names its filter.
  std::size_t bytes_of_a_row(int width) const;
};

/// Finds them. `file` must stay valid as long as `png`, which keeps its memory from file to file.
/// Source: https://www.w3.org/TR/png-3/
/// Errors: kCorruptData for what is damaged or cut short, kNotSupported for what PIL may read: an
/// animation, an unknown part that matters, more than `max_pixels`.
Status read_png(std::span<const std::byte> file, std::int64_t max_pixels, PngFile& png);

}  // namespace unstarve::feed
