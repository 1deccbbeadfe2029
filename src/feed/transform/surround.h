#pragma once

#include <cstddef>
#include <cstdint>

#include "feed/data/geometry.h"

namespace unstarve::feed {

/// Rows of interleaved RGB pixels.
struct PixelRows {
  std::uint8_t* first = nullptr;
  std::ptrdiff_t stride = 0;  // bytes
  ImageSize size;
};

/// Writes the pixels outside of `inner`, a part of the rows that is not empty, from those inside.
/// What is mirrored must be inside.
void surround_pixels(const Surround& surround, const Box& inner, const PixelRows& rows);

}  // namespace unstarve::feed
