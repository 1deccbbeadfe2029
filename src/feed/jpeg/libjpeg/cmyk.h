#pragma once

#include <cstdint>

namespace unstarve::feed {

/// Turns one row of inverted CMYK, as Adobe writes it into JPEGs, into RGB in place: `pixels`
/// quadruples become triples at the row's start. The arithmetic is Pillow's, to the bit.
void cmyk_to_rgb(std::uint8_t* row, int pixels);

}  // namespace unstarve::feed
