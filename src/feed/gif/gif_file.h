#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "feed/data/geometry.h"

namespace unstarve::feed {

/// Whether a file begins as a GIF does.
bool is_gif(std::span<const std::byte> file);

/// What the pixels of a GIF's first image need.
struct GifFile {
  ImageSize size;  // of the screen, enlarged where the image reaches past it
  Box image;       // where its pixels lie on the screen
  bool is_interlaced = false;
  int code_bits = 0;                                 // of an index, 2 to 8
  std::uint8_t background = 0;                       // the index around the image
  std::vector<std::array<std::uint8_t, 3>> palette;  // red, green, blue
  std::span<const std::byte> blocks;                 // of the codes, and all that follows them
};

/// Finds it. `file` must stay valid as long as `gif`, which keeps its memory from file to file.
/// Source: https://www.w3.org/Graphics/GIF/spec-gif89a.txt; where PIL's plugin differs, it counts.
/// Errors: kCorruptData for what is damaged or cut short, kNotSupported for what PIL alone should
/// judge, and for more than `max_pixels`.
Status read_gif(std::span<const std::byte> file, std::int64_t max_pixels, GifFile& gif);

/// What GifFile::blocks hold, up to the empty one or one that is not all there: PIL reads nothing
/// of such.
void join_blocks(std::span<const std::byte> blocks, std::vector<std::byte>& codes);

}  // namespace unstarve::feed
