#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/aligned_bytes.h"
#include "kernels/axis_plan.h"
#include "kernels/resize.h"
#include "kernels/window_table.h"

namespace unstarve::kernels {

/// Antialiased bilinear resize that takes source rows from top to bottom, as a decoder makes them,
/// and writes each output row as soon as its last source row is there. Keeps its memory between
/// images, so that the steady state allocates nothing.
///
///   resizer.begin(x, y, out, out_stride);            // x.reversed flips left to right
///   resizer.rows(first_row, stride, count);          // ... until all of source_rows() are in
///
/// Rows are handed over from the first pixel and the first row of the source span on, see x_plan()
/// and y_plan(). Each must be readable kRowPadding bytes past its end.
/// Thread rule: one thread at a time. Throws std::bad_alloc where memory runs out.
class StripResizer {
 public:
  void begin(const AxisRequest& x, const AxisRequest& y);
  /// Where the result goes: y_plan().count rows of x_plan().count RGB pixels.
  void set_output(std::uint8_t* out, std::ptrdiff_t out_stride);
  void rows(const std::uint8_t* first, std::ptrdiff_t stride, int count);

  const AxisPlan& x_plan() const { return x_; }
  const AxisPlan& y_plan() const { return y_; }
  /// All output rows are written.
  bool complete() const { return next_output_ == y_.count; }

 private:
  std::uint8_t* ring_row(int row) const;
  void resize_group(const std::uint8_t* first, std::ptrdiff_t stride, int count);
  void write_ready_rows();

  AxisPlan x_;
  AxisPlan y_;
  std::uint8_t* out_ = nullptr;
  std::ptrdiff_t out_stride_ = 0;
  bool windows_x_ = false;  // the horizontal pass looks samples up
  bool plain_x_ = false;    // too many taps for 16-bit weights
  bool plain_y_ = false;
  int rows_in_ = 0;      // source rows seen
  int next_output_ = 0;  // first output row not written yet
  int ring_rows_ = 0;    // a power of two
  std::ptrdiff_t ring_stride_ = 0;
  std::uint8_t* ring_ = nullptr;  // rows after the horizontal pass, the latest ring_rows_ of them
  WindowTable windows_;
  StripScratch scratch_;
  AlignedBytes ring_memory_;
  AlignedBytes columns_memory_;
  AlignedBytes resized_memory_;
  std::vector<const std::uint8_t*> blended_;
};

}  // namespace unstarve::kernels
