#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/aligned_bytes.h"
#include "kernels/cubic/cubic_axis.h"

namespace unstarve::kernels {

/// Antialiased bicubic resize that takes source rows from top to bottom and writes each output row
/// as soon as its last source row is there; the counterpart of StripResizer, with the same rules.
class CubicResizer {
 public:
  void begin(const AxisRequest& x, const AxisRequest& y);
  /// Where the result goes: y_axis().count rows of x_axis().count RGB pixels.
  void set_output(std::uint8_t* out, std::ptrdiff_t out_stride);
  /// Rows from the first pixel and the first row of the source span on.
  void rows(const std::uint8_t* first, std::ptrdiff_t stride, int count);

  const CubicAxis& x_axis() const { return x_; }
  const CubicAxis& y_axis() const { return y_; }
  /// All output rows are written.
  bool complete() const { return next_output_ == y_.count; }

 private:
  std::uint8_t* ring_row(int row) const;
  void write_ready_rows();

  CubicAxis x_;
  CubicAxis y_;
  std::uint8_t* out_ = nullptr;
  std::ptrdiff_t out_stride_ = 0;
  int rows_in_ = 0;      // source rows seen
  int next_output_ = 0;  // first output row not written yet
  int ring_rows_ = 0;    // a power of two
  std::ptrdiff_t ring_stride_ = 0;
  std::uint8_t* ring_ = nullptr;  // rows after the horizontal pass, the latest ring_rows_ of them
  AlignedBytes ring_memory_;
  std::vector<const std::uint8_t*> blended_;
};

}  // namespace unstarve::kernels
