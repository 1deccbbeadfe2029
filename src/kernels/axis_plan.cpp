#include "kernels/axis_plan.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace unstarve::kernels {
namespace {

constexpr int kOne = 1 << 16;

struct Support {
  int first = 0;  // in source samples
  int count = 0;
  double center = 0;
};

/// The samples under the triangle around output `index`; rounding as in Pillow's precompute_coeffs.
Support support_of(int index, double scale, double radius, int source_size) {
  Support support;
  support.center = (index + 0.5) * scale;
  // NOLINTBEGIN(bugprone-incorrect-roundings): Pillow rounds so, and its crops must be met.
  support.first = std::max(0, static_cast<int>(support.center - radius + 0.5));
  const int end = std::min(source_size, static_cast<int>(support.center + radius + 0.5));
  // NOLINTEND(bugprone-incorrect-roundings)
  support.count = std::max(1, end - support.first);
  return support;
}

/// Rounds the weights to 16 bits so that they still sum to one: what rounding lost goes to the
/// largest. A lone tap would be 65536, which 16 bits cannot hold.
void to_fixed(const float* weights, int count, std::uint16_t* fixed) {
  int rest = kOne;
  int largest = 0;
  int largest_value = -1;
  for (int tap = 0; tap < count; ++tap) {
    // No weight is negative, so that cutting the fraction off rounds, and without a call.
    // NOLINTNEXTLINE(bugprone-incorrect-roundings)
    const int value = std::min(static_cast<int>(weights[tap] * kOne + 0.5F), kOne - 1);
    fixed[tap] = static_cast<std::uint16_t>(value);
    rest -= value;
    largest = value > largest_value ? tap : largest;
    largest_value = std::max(value, largest_value);
  }
  fixed[largest] = static_cast<std::uint16_t>(std::min(largest_value + rest, kOne - 1));
}

}  // namespace

void plan_axis(const AxisRequest& request, AxisPlan& plan) {
  UNSTARVE_CHECK(request.source_size > 0 && request.target_size > 0 && request.window_count > 0,
                 "sizes are above zero");
  UNSTARVE_CHECK(request.window_first >= 0 &&
                     request.window_first + request.window_count <= request.target_size,
                 "the window lies inside the target");
  const double scale = static_cast<double>(request.source_size) / request.target_size;
  const double radius = std::max(scale, 1.0);
  const auto count = static_cast<std::size_t>(request.window_count);
  plan.count = request.window_count;
  plan.max_taps = std::min(static_cast<int>(std::ceil(radius)) * 2 + 1, request.source_size);
  plan.first.resize(count);
  plan.taps.resize(count);
  plan.weights.assign(count * static_cast<std::size_t>(plan.max_taps), 0.0F);

  const int last_index = request.window_first + request.window_count - 1;
  const Support head = support_of(request.window_first, scale, radius, request.source_size);
  const Support tail = support_of(last_index, scale, radius, request.source_size);
  plan.source_first = head.first;
  plan.source_count = tail.first + tail.count - head.first;
  for (std::size_t output = 0; output < count; ++output) {
    const int offset = static_cast<int>(output);
    const int index = request.reversed ? last_index - offset : request.window_first + offset;
    const Support support = support_of(index, scale, radius, request.source_size);
    float* weights = &plan.weights[output * static_cast<std::size_t>(plan.max_taps)];
    double sum = 0;
    const double per_radius = 1.0 / radius;
    const double start = support.first - support.center + 0.5;
    for (int tap = 0; tap < support.count; ++tap) {
      const double weight = std::max(0.0, 1.0 - std::abs((start + tap) * per_radius));
      weights[tap] = static_cast<float>(weight);
      sum += weight;
    }
    const auto norm = static_cast<float>(1.0 / sum);
    for (int tap = 0; tap < support.count; ++tap) weights[tap] *= norm;
    plan.first[output] = support.first - plan.source_first;
    plan.taps[output] = support.count;
  }
}

void fix_weights(AxisPlan& plan) {
  plan.fixed_weights.resize(plan.weights.size());
  for (std::size_t output = 0; output < static_cast<std::size_t>(plan.count); ++output) {
    const std::size_t first = output * static_cast<std::size_t>(plan.max_taps);
    to_fixed(&plan.weights[first], plan.taps[output], &plan.fixed_weights[first]);
  }
}

}  // namespace unstarve::kernels
