#pragma once

#include <cstdint>

#include "kernels/cubic/cubic_axis.h"

namespace unstarve::kernels {

/// One row along x: `row` points at the axis' source_first pixel and may be read kRowPadding bytes
/// past its last; `out` gets axis.count pixels and may be written kRowPadding bytes past them.
void cubic_row(const std::uint8_t* row, const CubicAxis& axis, std::uint8_t* out);

/// One output row from `taps` rows of `bytes` bytes each. Writes exactly `bytes`.
struct CubicBlend {
  const std::uint8_t* const* rows = nullptr;
  const std::int16_t* weights = nullptr;  // an even number of them: zero past the taps
  int shift = 0;
  int taps = 0;
  int bytes = 0;
};
void cubic_blend(const CubicBlend& blend, std::uint8_t* out);

/// The same, plainly: the reference for the SIMD code. cubic_row_plain() writes no padding.
void cubic_row_plain(const std::uint8_t* row, const CubicAxis& axis, std::uint8_t* out);
void cubic_blend_plain(const CubicBlend& blend, std::uint8_t* out);

}  // namespace unstarve::kernels
