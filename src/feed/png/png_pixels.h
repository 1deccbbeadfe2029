#pragma once

#include <cstdint>

#include "base/result.h"
#include "feed/png/png_file.h"

namespace unstarve::feed {

/// As what pixels are written, a byte a sample.
enum class PngPixels : std::uint8_t {
  kRgb,     // as PIL's convert("RGB"): transparency is dropped, and of 16 bits the lower 8 are
  kStored,  // as PIL loads them in its modes L, P, LA, RGB and RGBA: a palette's are its indices
};

int channels_of(const PngFile& png, PngPixels pixels);

/// Of a row.
struct PixelSpan {
  int first = 0;
  int count = 0;
};

/// Writes pixels of a row, whose filter has been undone.
/// Errors: kNotSupported for an index that the palette lacks, of which PIL's versions make
/// different colours.
Status write_pixels(const PngFile& png, PngPixels pixels, const std::uint8_t* row, PixelSpan span,
                    std::uint8_t* out);

}  // namespace unstarve::feed
