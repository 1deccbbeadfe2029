#include "kernels/cubic/cubic_resizer.h"

#include <bit>

#include "base/check.h"
#include "kernels/cubic/cubic_pass.h"
#include "kernels/resize.h"

namespace unstarve::kernels {

void CubicResizer::begin(const AxisRequest& x, const AxisRequest& y) {
  plan_cubic(x, x_);
  plan_cubic(y, y_);
  rows_in_ = 0;
  next_output_ = 0;
  ring_rows_ = static_cast<int>(std::bit_ceil(static_cast<unsigned>(y_.stride)));
  ring_stride_ = std::ptrdiff_t{padded_bytes(x_.count)} + kRowPadding;
  ring_ = ring_memory_.reserve(static_cast<std::size_t>(ring_stride_ * ring_rows_));
  blended_.resize(static_cast<std::size_t>(y_.stride));
}

void CubicResizer::set_output(std::uint8_t* out, std::ptrdiff_t out_stride) {
  out_ = out;
  out_stride_ = out_stride;
}

std::uint8_t* CubicResizer::ring_row(int row) const {
  return ring_ + std::ptrdiff_t{row & (ring_rows_ - 1)} * ring_stride_;
}

void CubicResizer::rows(const std::uint8_t* first, std::ptrdiff_t stride, int count) {
  UNSTARVE_CHECK(count >= 0 && rows_in_ + count <= y_.source_count, "more rows than asked for");
  for (int i = 0; i < count; ++i) {
    cubic_row(first + i * stride, x_, ring_row(rows_in_));
    ++rows_in_;
    write_ready_rows();
  }
}

void CubicResizer::write_ready_rows() {
  for (; next_output_ < y_.count; ++next_output_) {
    const auto output = static_cast<std::size_t>(next_output_);
    const int first = y_.first[output];
    const int taps = y_.taps[output];
    if (first + taps > rows_in_) return;
    for (int tap = 0; tap < taps; ++tap) {
      blended_[static_cast<std::size_t>(tap)] = ring_row(first + tap);
    }
    cubic_blend({.rows = blended_.data(),
                 .weights = y_.weights_of(next_output_),
                 .shift = y_.shift,
                 .taps = taps,
                 .bytes = x_.count * kChannels},
                out_ + next_output_ * out_stride_);
  }
}

}  // namespace unstarve::kernels
