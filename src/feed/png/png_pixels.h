#pragma once

#include <cstdint>

#include "base/result.h"
#include "feed/png/png_file.h"

namespace unstarve::feed {

/// Writes `count` pixels of a row, from the `begin`th on, as RGB: those of PIL's convert("RGB").
/// Transparency is dropped, and of 16 bits the lower 8 are. `row` has had its filter undone.
/// Errors: kNotSupported for an index that the palette lacks, of which PIL's versions make
/// different things.
Status rgb_of(const PngFile& png, const std::uint8_t* row, int begin, int count, std::uint8_t* rgb);

}  // namespace unstarve::feed
