#include "kernels/strip_resizer.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/check.h"
#include "kernels/window_pass.h"

namespace unstarve::kernels {
namespace {

std::size_t bytes_of(int rows, int row_bytes) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(row_bytes);
}

}  // namespace

void StripResizer::begin(const AxisRequest& x, const AxisRequest& y) {
  plan_axis(x, x_);
  plan_axis(y, y_);
  windows_x_ = windows_.plan(x_, window_shape());
  plain_x_ = !windows_x_ && x_.max_taps > kMaxFixedTaps;
  plain_y_ = y_.max_taps > kMaxFixedTaps;
  if (!windows_x_ && !plain_x_) fix_weights(x_);
  if (!plain_y_) fix_weights(y_);
  rows_in_ = 0;
  next_output_ = 0;
  ring_rows_ = static_cast<int>(std::bit_ceil(static_cast<unsigned>(y_.max_taps + kStripRows)));
  ring_stride_ = window_row_bytes(x_.count);
  ring_ = ring_memory_.reserve(bytes_of(ring_rows_, window_row_bytes(x_.count)) + kRowPadding);
  blended_.resize(static_cast<std::size_t>(y_.max_taps));
  if (windows_x_ || plain_x_) return;
  scratch_.columns = std::bit_cast<std::uint16_t*>(columns_memory_.reserve(
      bytes_of(kStripRows, padded_bytes(x_.source_count)) * sizeof(std::uint16_t)));
  scratch_.resized =
      resized_memory_.reserve(bytes_of(kStripRows, padded_bytes(x_.count)) + kRowPadding);
}

void StripResizer::set_output(std::uint8_t* out, std::ptrdiff_t out_stride) {
  out_ = out;
  out_stride_ = out_stride;
}

std::uint8_t* StripResizer::ring_row(int row) const {
  return ring_ + std::ptrdiff_t{row & (ring_rows_ - 1)} * ring_stride_;
}

void StripResizer::rows(const std::uint8_t* first, std::ptrdiff_t stride, int count) {
  UNSTARVE_CHECK(count >= 0 && rows_in_ + count <= y_.source_count, "more rows than asked for");
  for (int done = 0; done < count; done += kStripRows) {
    const int group = std::min(kStripRows, count - done);
    resize_group(first + done * stride, stride, group);
    rows_in_ += group;
    write_ready_rows();
  }
}

void StripResizer::resize_group(const std::uint8_t* first, std::ptrdiff_t stride, int count) {
  if (plain_x_) {
    for (int i = 0; i < count; ++i) {
      resize_row_plain(first + i * stride, x_, ring_row(rows_in_ + i));
    }
    return;
  }
  // Past the end the last row is repeated, for the pass that always takes kStripRows rows; those
  // results land in ring rows that nobody reads: the ring has kStripRows more than a blend needs.
  std::array<const std::uint8_t*, kStripRows> sources;
  std::array<std::uint8_t*, kStripRows> targets;
  for (int i = 0; i < kStripRows; ++i) {
    const auto slot = static_cast<std::size_t>(i);
    sources[slot] = first + std::min(i, count - 1) * stride;
    targets[slot] = ring_row(rows_in_ + i);
  }
  if (windows_x_) return window_pass(windows_, sources.data(), count, targets.data());
  resize_strip(sources.data(), x_, scratch_, targets.data());
}

void StripResizer::write_ready_rows() {
  for (; next_output_ < y_.count; ++next_output_) {
    const auto output = static_cast<std::size_t>(next_output_);
    const int first = y_.first[output];
    const int taps = y_.taps[output];
    if (first + taps > rows_in_) return;
    for (int tap = 0; tap < taps; ++tap) {
      blended_[static_cast<std::size_t>(tap)] = ring_row(first + tap);
    }
    const std::size_t weights = output * static_cast<std::size_t>(y_.max_taps);
    // The plain pass has no weights of 16 bits.
    const RowBlend blend{.rows = blended_.data(),
                         .fixed_weights = plain_y_ ? nullptr : &y_.fixed_weights[weights],
                         .weights = &y_.weights[weights],
                         .taps = taps,
                         .bytes = x_.count * kChannels};
    std::uint8_t* out = out_ + next_output_ * out_stride_;
    if (plain_y_) {
      blend_rows_plain(blend, out);
    } else {
      blend_rows(blend, out);
    }
  }
}

}  // namespace unstarve::kernels
