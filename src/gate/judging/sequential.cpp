#include "gate/judging/sequential.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace unstarve::gate {

namespace {

constexpr double kSpendingPower = 3;
constexpr double kShareOfStudent = 0.75;  // of a rate, so that t keeps to it too
constexpr double kFarOff = 6;             // standard deviations beyond which nothing lies
constexpr double kPartsOfStep = 3;        // of the grid, in a standard deviation of what comes next

double normal_above(double z) { return 0.5 * std::erfc(z * M_SQRT1_2); }

double normal_density(double z) {
  constexpr double kAtZero = 0.39894228040143268;
  return kAtZero * std::exp(-z * z / 2);
}

/// Sums that have not decided by a look, and how likely each is.
struct Open {
  double from = 0;
  double step = 0;
  std::vector<double> mass;

  double sum_at(std::size_t i) const { return from + step * static_cast<double>(i); }
};

/// Of all sequences those whose next sum is above `bound`.
double deciding(const Open& open, double bound, double deviation) {
  double share = 0;
  for (std::size_t i = 0; i < open.mass.size(); ++i) {
    share += open.mass[i] * normal_above((bound - open.sum_at(i)) / deviation);
  }
  return share;
}

double deciding_slope(const Open& open, double bound, double deviation) {
  double slope = 0;
  for (std::size_t i = 0; i < open.mass.size(); ++i) {
    slope -= open.mass[i] * normal_density((bound - open.sum_at(i)) / deviation) / deviation;
  }
  return slope;
}

/// The bound that a share `wanted` of all sequences crosses: Newton's steps within a bracket.
double bound_of(const Open& open, double wanted, double deviation, double spread) {
  double low = -kFarOff * spread, high = (kFarOff + 4) * spread;
  double bound = 2 * spread;
  constexpr int kMostSteps = 60;
  for (int i = 0; i < kMostSteps; ++i) {
    const double excess = deciding(open, bound, deviation) - wanted;
    (excess > 0 ? low : high) = bound;
    const double slope = deciding_slope(open, bound, deviation);
    double next = slope < 0 ? bound - excess / slope : (low + high) / 2;
    if (!(next > low && next < high)) next = (low + high) / 2;
    const bool settled = std::abs(next - bound) < 1e-7 * spread;
    bound = next;
    if (settled) break;
  }
  return bound;
}

/// What is below the bound goes on: a grid up to it, by the trapezoidal rule.
Open going_on(const Open& open, double bound, double deviation, double spread, double next_step) {
  Open after;
  after.from = -kFarOff * spread;
  const double width = std::max(bound - after.from, next_step);
  const auto parts = static_cast<std::size_t>(std::ceil(width / next_step)) + 1;
  after.step = width / static_cast<double>(parts);
  after.mass.resize(parts + 1);
  for (std::size_t i = 0; i <= parts; ++i) {
    const double sum = after.sum_at(i);
    double density = 0;
    for (std::size_t j = 0; j < open.mass.size(); ++j) {
      const double z = (sum - open.sum_at(j)) / deviation;
      if (std::abs(z) < kFarOff) density += open.mass[j] * normal_density(z) / deviation;
    }
    after.mass[i] = density * after.step * (i == 0 || i == parts ? 0.5 : 1);
  }
  return after;
}

}  // namespace

std::vector<double> sequential_levels(std::span<const double> information, double rate) {
  std::vector<double> levels;
  Open open{0, 0, {1}};  // the sum of no values is 0
  double spent = 0;
  double before = 0;
  for (std::size_t look = 0; look < information.size(); ++look) {
    const double now = information[look];
    const double spread = std::sqrt(now);
    const double deviation = std::sqrt(now - before);
    const double may_be_spent =
        rate * kShareOfStudent * std::pow(now / information.back(), kSpendingPower);
    const double bound = bound_of(open, may_be_spent - spent, deviation, spread);
    levels.push_back(normal_above(bound / spread));
    spent = may_be_spent;
    if (look + 1 == information.size()) break;
    const double next_step = std::sqrt(information[look + 1] - now) / kPartsOfStep;
    open = going_on(open, bound, deviation, spread, next_step);
    before = now;
  }
  return levels;
}

}  // namespace unstarve::gate
