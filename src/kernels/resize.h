#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/axis_plan.h"

namespace unstarve::kernels {

inline constexpr int kChannels = 3;       // interleaved RGB everywhere
inline constexpr int kStripRows = 32;     // rows that the horizontal pass takes at once
inline constexpr int kRowPadding = 64;    // bytes that may be read, or written, past a row's end
inline constexpr int kMaxFixedTaps = 64;  // above, 16-bit weights lose too much: use the plain pass

/// Rounds a row's length up so that whole vectors of 16 bytes fit.
constexpr int padded_bytes(int pixels) { return (pixels * kChannels + 15) / 16 * 16; }

/// Scratch of the SIMD horizontal pass; the caller owns the memory so that nothing is allocated
/// per image. Both 64-byte aligned.
struct StripScratch {
  std::uint16_t* columns = nullptr;  // kStripRows * padded_bytes(source pixels)
  std::uint8_t* resized = nullptr;   // kStripRows * padded_bytes(outputs)
};

/// Resizes up to kStripRows rows along x: rows[i] -> out_rows[i]. rows[i] points at the plan's
/// source_first pixel. There are always kStripRows pointers; those past the end may repeat a row.
/// rows are read to padded_bytes(source_count), out_rows written to padded_bytes(count).
void resize_strip(const std::uint8_t* const* rows, const AxisPlan& plan,
                  const StripScratch& scratch, std::uint8_t* const* out_rows);

/// One output row from `taps` rows of `bytes` bytes each: the vertical pass. Writes exactly
/// `bytes`.
struct RowBlend {
  const std::uint8_t* const* rows = nullptr;
  const std::uint16_t* fixed_weights = nullptr;
  const float* weights = nullptr;
  int taps = 0;
  int bytes = 0;
};
void blend_rows(const RowBlend& blend, std::uint8_t* out);

/// The same in plain float arithmetic, with any number of taps: the reference that the SIMD code is
/// tested against, and the way for images so large that 16-bit weights lose precision.
void resize_row_plain(const std::uint8_t* row, const AxisPlan& plan, std::uint8_t* out);
void blend_rows_plain(const RowBlend& blend, std::uint8_t* out);

}  // namespace unstarve::kernels
