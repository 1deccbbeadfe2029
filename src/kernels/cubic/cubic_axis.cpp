#include "kernels/cubic/cubic_axis.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace unstarve::kernels {
namespace {

/// Keys' cubic convolution with a = -0.5.
double cubic(double distance) {
  constexpr double kA = -0.5;
  const double x = std::abs(distance);
  if (x < 1) return ((kA + 2) * x - (kA + 3)) * x * x + 1;
  if (x < 2) return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA;
  return 0;
}

struct Axis {
  double scale = 1;   // source samples per output
  double radius = 2;  // of the kernel, in source samples
  int source_size = 0;
};

struct CubicSupport {
  int first = 0;  // in source samples
  int count = 0;
};

CubicSupport support_of(const Axis& axis, int index) {
  const double center = (index + 0.5) * axis.scale;
  CubicSupport support;
  // NOLINTBEGIN(bugprone-incorrect-roundings): Pillow and torch round so.
  support.first = std::max(0, static_cast<int>(center - axis.radius + 0.5));
  const int end = std::min(axis.source_size, static_cast<int>(center + axis.radius + 0.5));
  // NOLINTEND(bugprone-incorrect-roundings)
  support.count = std::max(1, end - support.first);
  return support;
}

/// The weights of output `index`, which sum to one.
void weigh(const Axis& axis, int index, const CubicSupport& support, std::vector<double>& weights) {
  const double center = (index + 0.5) * axis.scale;
  const double per_unit = 2 / axis.radius;
  double sum = 0;
  weights.resize(static_cast<std::size_t>(support.count));
  for (int tap = 0; tap < support.count; ++tap) {
    const double weight = cubic((tap + support.first - center + 0.5) * per_unit);
    weights[static_cast<std::size_t>(tap)] = weight;
    sum += weight;
  }
  for (double& weight : weights) weight /= sum;
}

/// The most bits, up to 22, with which the largest weight of the axis fits 16 bits.
int precision_of(const Axis& axis, int target_size, std::vector<double>& weights) {
  double largest = 0;
  for (int index = 0; index < target_size; ++index) {
    weigh(axis, index, support_of(axis, index), weights);
    largest = std::max(largest, *std::max_element(weights.begin(), weights.end()));
  }
  int bits = 0;
  // Weights are rounded to the nearest, so that 2^15 - 0.5 is too large already.
  while (bits < 22 && largest * (1 << (bits + 1)) < (1 << 15) - 0.5) ++bits;
  return bits;
}

}  // namespace

void plan_cubic(const AxisRequest& request, CubicAxis& plan) {
  UNSTARVE_CHECK(request.source_size > 0 && request.target_size > 0 && request.window_count > 0,
                 "sizes are above zero");
  UNSTARVE_CHECK(request.window_first >= 0 &&
                     request.window_first + request.window_count <= request.target_size,
                 "the window lies inside the target");
  const double scale = static_cast<double>(request.source_size) / request.target_size;
  const Axis axis{scale, 2 * std::max(scale, 1.0), request.source_size};
  std::vector<double> weights;
  plan.shift = precision_of(axis, request.target_size, weights);
  const auto count = static_cast<std::size_t>(request.window_count);
  plan.count = request.window_count;
  const int max_taps =
      std::min(static_cast<int>(std::ceil(axis.radius)) * 2 + 1, request.source_size);
  plan.stride = (max_taps + 1) / 2 * 2;
  plan.first.resize(count);
  plan.taps.resize(count);
  plan.weights.assign(count * static_cast<std::size_t>(plan.stride), 0);

  const int last_index = request.window_first + request.window_count - 1;
  const CubicSupport head = support_of(axis, request.window_first);
  const CubicSupport tail = support_of(axis, last_index);
  plan.source_first = head.first;
  plan.source_count = tail.first + tail.count - head.first;
  for (std::size_t output = 0; output < count; ++output) {
    const int offset = static_cast<int>(output);
    const int index = request.reversed ? last_index - offset : request.window_first + offset;
    const CubicSupport support = support_of(axis, index);
    weigh(axis, index, support, weights);
    plan.first[output] = support.first - plan.source_first;
    plan.taps[output] = support.count;
    std::int16_t* fixed = &plan.weights[output * static_cast<std::size_t>(plan.stride)];
    for (std::size_t tap = 0; tap < weights.size(); ++tap) {
      const double scaled = weights[tap] * (1 << plan.shift);
      fixed[tap] = static_cast<std::int16_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
    }
  }
}

}  // namespace unstarve::kernels
