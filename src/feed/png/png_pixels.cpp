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

/// Of pixels that are less than a byte each: an index, or grey as 8 bits.
void unpack(const PngFile& png, const std::uint8_t* row, PixelSpan span, std::uint8_t* out) {
  const int in_a_byte = 8 / png.depth;
  const int highest = (1 << png.depth) - 1;
  const int scale = png.colour == PngColour::kPalette ? 1 : 255 / highest;
  for (int x = span.first; x < span.first + span.count; ++x) {
    const int shift = 8 - png.depth * (x % in_a_byte + 1);
    const int value = row[x / in_a_byte] >> shift & highest;
    *out++ = static_cast<std::uint8_t>(value * scale);
  }
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

/// The same of pixels that are less than a byte each.
Status write_small_rgb(const PngFile& png, const std::uint8_t* row, PixelSpan span,
                       std::uint8_t* rgb) {
  constexpr int kAtOnce = 256;
  std::array<std::uint8_t, kAtOnce> values = {};
  for (int done = 0; done < span.count; done += kAtOnce, rgb += std::ptrdiff_t{3} * kAtOnce) {
    const int now = std::min(kAtOnce, span.count - done);
    unpack(png, row, {span.first + done, now}, values.data());
    if (png.colour != PngColour::kPalette) {
      write_grey<1>(values.data(), now, rgb);
    } else if (Status status = write_colours(png, values.data(), now, rgb); !status) {
      return status;
    }
  }
  return {};
}

Status write_rgb(const PngFile& png, const std::uint8_t* from, int count, std::uint8_t* rgb) {
  const bool is_wide = png.depth == 16;
  switch (png.colour) {
    case PngColour::kGrey: write_grey<1>(from, count, rgb); break;
    case PngColour::kPalette: return write_colours(png, from, count, rgb);
    case PngColour::kGreyAlpha:
      is_wide ? write_grey<4>(from, count, rgb) : write_grey<2>(from, count, rgb);
      break;
    case PngColour::kRgb:
      if (is_wide) {
        write_rgb<6, 2>(from, count, rgb);
      } else {
        std::memcpy(rgb, from, 3 * static_cast<std::size_t>(count));
      }
      break;
    case PngColour::kRgbAlpha:
      is_wide ? write_rgb<8, 2>(from, count, rgb) : write_rgb<4, 1>(from, count, rgb);
      break;
  }
  return {};
}

/// Of each sample the higher 8 bits, which come first.
void write_samples(const std::uint8_t* from, std::ptrdiff_t count, int depth, std::uint8_t* out) {
  const std::ptrdiff_t step = depth / 8;
  if (step == 1) {
    std::memcpy(out, from, static_cast<std::size_t>(count));
    return;
  }
  for (std::ptrdiff_t i = 0; i < count; ++i) out[i] = from[i * step];
}

}  // namespace

int channels_of(const PngFile& png, PngPixels pixels) {
  return pixels == PngPixels::kRgb ? 3 : png.channels();
}

Status write_pixels(const PngFile& png, PngPixels pixels, const std::uint8_t* row, PixelSpan span,
                    std::uint8_t* out) {
  const bool is_rgb = pixels == PngPixels::kRgb;
  if (png.depth < 8) {
    if (is_rgb) return write_small_rgb(png, row, span, out);
    unpack(png, row, span, out);
    return {};
  }
  const std::uint8_t* const from = row + std::ptrdiff_t{span.first} * (png.bits_of_a_pixel() / 8);
  if (is_rgb) return write_rgb(png, from, span.count, out);
  write_samples(from, std::ptrdiff_t{span.count} * png.channels(), png.depth, out);
  return {};
}

}  // namespace unstarve::feed
