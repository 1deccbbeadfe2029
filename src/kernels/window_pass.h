#pragma once

#include <cstdint>

#include "kernels/window_table.h"

namespace unstarve::kernels {

/// What window_pass() works with on this CPU.
WindowShape window_shape();

/// The horizontal pass of `count` rows: rows[i] -> out_rows[i]. rows[i] points at the plan's
/// source_first pixel. Reads up to kRowPadding bytes past a row's end; writes whole steps of the
/// table, see window_row_bytes().
void window_pass(const WindowTable& table, const std::uint8_t* const* rows, int count,
                 std::uint8_t* const* out_rows);

/// Bytes that window_pass() writes per row of `pixels` outputs, whatever the instruction set.
constexpr int window_row_bytes(int pixels) { return (pixels * 3 + 63) / 64 * 64; }

}  // namespace unstarve::kernels
