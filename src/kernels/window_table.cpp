#include "kernels/window_table.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/resize.h"

namespace unstarve::kernels {
namespace {

// A lookup of 32 bits gives two 16-bit samples; 0x80 gives the zero byte above each.
constexpr std::uint32_t kZeroBytes = 0x80008000U;

/// Rounds weights to 16 bits so that they still sum to one: what rounding lost goes to the largest.
void round_weights(const float* weights, int count, int shift, std::int16_t* rounded) {
  const auto scale = static_cast<float>(1 << shift);
  int rest = 1 << shift;
  int largest = 0;
  for (int tap = 0; tap < count; ++tap) {
    // Towards the nearest, without a call.
    const int value = static_cast<int>(weights[tap] * scale + (weights[tap] < 0 ? -0.5F : 0.5F));
    rounded[tap] = static_cast<std::int16_t>(value);
    rest -= value;
    if (weights[tap] > weights[largest]) largest = tap;
  }
  rounded[largest] = static_cast<std::int16_t>(rounded[largest] + rest);
}

/// A sample may not lie so late that a window for its pairs starts past the row.
int first_sample(const AxisPlan& axis, int output, int pairs) {
  const int latest = std::max(0, axis.source_count - 2 * pairs);
  return std::min(axis.first[static_cast<std::size_t>(output)], latest);
}

}  // namespace

bool WindowTable::plan(const AxisPlan& axis, const WindowShape& use) {
  if (use.unit_lanes == 0) return false;
  shape = use;
  unit_shift_ = std::countr_zero(static_cast<unsigned>(use.unit_lanes));
  window_shift_ = std::countr_zero(static_cast<unsigned>(use.window_lanes));
  const int most_taps = *std::max_element(axis.taps.begin(), axis.taps.end());
  pairs = (most_taps + 1) / 2;
  const int step_lanes = kWindowUnits * shape.unit_lanes;
  steps = (axis.count * kChannels + step_lanes - 1) / step_lanes;
  if (!set_starts(axis)) return false;
  const float largest = *std::max_element(axis.weights.begin(), axis.weights.end());
  // Half a unit of rounding must fit beside the largest weight.
  shift = largest < 0.999F ? 15 : 14;
  const auto lanes = static_cast<std::size_t>(steps) * static_cast<std::size_t>(step_lanes);
  lookup = std::bit_cast<std::uint32_t*>(lookup_memory.reserve(lanes * sizeof(std::uint32_t)));
  weights = std::bit_cast<std::uint32_t*>(
      weights_memory.reserve(lanes * static_cast<std::size_t>(pairs) * sizeof(std::uint32_t)));
  pair_weights_.resize(static_cast<std::size_t>(pairs) + 1);
  for (int output = 0; output < axis.count; ++output) {
    set_lanes(axis, output, first_sample(axis, output, pairs));
  }
  // Lanes past the last output make bytes that nobody reads, out of bytes that may be read.
  for (auto lane = static_cast<std::size_t>(axis.count) * kChannels; lane < lanes; ++lane) {
    lookup[lane] = kZeroBytes;
  }
  return true;
}

bool WindowTable::set_starts(const AxisPlan& axis) {
  const int windows = steps * kWindowUnits * shape.unit_lanes / shape.window_lanes;
  starts.resize(static_cast<std::size_t>(windows));
  int widest = 0;
  for (int window = 0; window < windows; ++window) {
    const int lane = window * shape.window_lanes;
    const int head = std::min(lane / kChannels, axis.count - 1);
    const int tail = std::min((lane + shape.window_lanes - 1) / kChannels, axis.count - 1);
    // Outputs run forwards, or backwards in a flip.
    const int head_sample = first_sample(axis, head, pairs);
    const int tail_sample = first_sample(axis, tail, pairs);
    starts[static_cast<std::size_t>(window)] = std::min(head_sample, tail_sample) * kChannels;
    // From the first channel of the first sample to the last of the second sample of a pair.
    const int span = (std::abs(tail_sample - head_sample) + 2) * kChannels;
    widest = std::max(widest, span);
  }
  one_window = widest + (pairs - 1) * 2 * kChannels <= shape.window_bytes;
  return widest <= shape.window_bytes;
}

void WindowTable::set_lanes(const AxisPlan& axis, int output, int first_sample) {
  const auto index = static_cast<std::size_t>(output);
  std::fill(pair_weights_.begin(), pair_weights_.end(), 0);
  auto* rounded = reinterpret_cast<std::int16_t*>(pair_weights_.data());
  round_weights(&axis.weights[index * static_cast<std::size_t>(axis.max_taps)], axis.taps[index],
                shift, rounded + (axis.first[index] - first_sample));
  for (int channel = 0; channel < kChannels; ++channel) {
    const int lane = output * kChannels + channel;
    const int start = starts[static_cast<std::size_t>(lane >> window_shift_)];
    const auto offset = static_cast<std::uint32_t>(first_sample * kChannels + channel - start);
    lookup[lane] = offset | (offset + kChannels) << 16U | 0x80008000U;
    const int unit = lane >> unit_shift_;
    std::uint32_t* out = weights + (((unit * pairs - unit) << unit_shift_) + lane);
    for (int pair = 0; pair < pairs; ++pair, out += shape.unit_lanes) {
      *out = pair_weights_[static_cast<std::size_t>(pair)];
    }
  }
}

}  // namespace unstarve::kernels
