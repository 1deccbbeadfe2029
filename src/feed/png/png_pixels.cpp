#include "feed/png/png_pixels.h"

#include <algorithm>
#include <cstring>

namespace unstarve::feed {
namespace {

Status write_colours(const PngFile& png, const std::uint8_t* indices, int count,
                     std::uint8_t* rgb) {
  const std::size_t highest = *std::max_element(indices, indices + count);
  if (highest >= png.palette.size()) {
    return fail(ErrorCode::kNotSupported, "colour {} of a palette of {}", highest,
                png.palette.size());
  }
  for (int x = 0; x < count; ++x, rgb += 3) std::memcpy(rgb, png.palette[indices[x]].data(), 3);
  return {};
}

/// Of pixels that are less than a byte each.
Status write_small(const PngFile& png, const std::uint8_t* row, int begin, int count,
                   std::uint8_t* rgb) {
  constexpr int kAtOnce = 256;
  const int in_a_byte = 8 / png.depth;
  const int highest = (1 << png.depth) - 1;
  const int scale = png.colour == PngColour::kPalette ? 1 : 255 / highest;
  std::array<std::uint8_t, kAtOnce> values = {};
  for (int done = 0; done < count; done += kAtOnce) {
    const int now = std::min(kAtOnce, count - done);
    for (int i = 0; i < now; ++i) {
      const int x = begin + done + i;
      const int shift = 8 - png.depth * (x % in_a_byte + 1);
      const int value = row[x / in_a_byte] >> shift & highest;
      values[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(value * scale);
    }
    std::uint8_t* const to = rgb + std::ptrdiff_t{3} * done;
    if (png.colour == PngColour::kPalette) {
      if (Status status = write_colours(png, values.data(), now, to); !status) return status;
    } else {
      for (int i = 0; i < now; ++i) std::memset(to + 3 * i, values[std::size_t(i)], 3);
    }
  }
  return {};
}

/// Of pixels of one or two samples, of which the first is grey.
template <int kStep>
void write_grey(const std::uint8_t* from, int count, std::uint8_t* rgb) {
  for (int x = 0; x < count; ++x, from += kStep, rgb += 3) {
    rgb[0] = *from;
    rgb[1] = *from;
    rgb[2] = *from;
  }
}

/// Of pixels of `kStep` bytes, whose colours are `kEach` bytes from each other.
template <int kStep, int kEach>
void write_rgb(const std::uint8_t* from, int count, std::uint8_t* rgb) {
  for (int x = 0; x < count; ++x, from += kStep, rgb += 3) {
    rgb[0] = from[0];
    rgb[1] = from[kEach];
    rgb[2] = from[2 * kEach];
  }
}

}  // namespace

Status rgb_of(const PngFile& png, const std::uint8_t* row, int begin, int count,
              std::uint8_t* rgb) {
  if (png.depth < 8) return write_small(png, row, begin, count, rgb);
  const std::uint8_t* const from = row + std::ptrdiff_t{begin} * (png.bits_of_a_pixel() / 8);
  const bool is_wide = png.depth == 16;
  switch (png.colour) {
    case PngColour::kGrey: write_grey<1>(from, count, rgb); return {};
    case PngColour::kPalette: return write_colours(png, from, count, rgb);
    case PngColour::kGreyAlpha:
      is_wide ? write_grey<4>(from, count, rgb) : write_grey<2>(from, count, rgb);
      return {};
    case PngColour::kRgb:
      if (is_wide) {
        write_rgb<6, 2>(from, count, rgb);
      } else {
        std::memcpy(rgb, from, 3 * static_cast<std::size_t>(count));
      }
      return {};
    case PngColour::kRgbAlpha:
      is_wide ? write_rgb<8, 2>(from, count, rgb) : write_rgb<4, 1>(from, count, rgb);
      return {};
  }
  return {};
}

}  // namespace unstarve::feed
