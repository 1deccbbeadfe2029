#include "gate/judging/evidence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/statistics.h"

namespace unstarve::gate {

namespace {

constexpr std::array<double, 6> kEffects = {0.5, 1, 2, 4, 8, 16};  // standard deviations

/// log of the integral over u > 0 of u^freedom exp(-u^2 / 2 + c u). The integrand has one peak, a
/// few units wide.
double log_integral(double freedom, double c) {
  constexpr int kParts = 120;
  constexpr double kReach = 9;  // beyond which it is nothing
  const double peak = (c + std::sqrt(c * c + 4 * freedom)) / 2;
  const double from = std::max(1e-9, peak - kReach);
  const double step = (peak + kReach - from) / kParts;
  const auto log_of = [&](double u) { return freedom * std::log(u) - u * u / 2 + c * u; };
  const double top = log_of(std::max(peak, 1e-9));
  double sum = 0;  // Simpson's rule
  for (int i = 0; i <= kParts; ++i) {
    const double weight = i == 0 || i == kParts ? 1 : (i % 2 == 1 ? 4 : 2);
    sum += weight * std::exp(log_of(from + i * step) - top);
  }
  return top + std::log(sum * step / 3);
}

/// Of the statistic t with so many degrees of freedom, whose mean is effect * sqrt(size) standard
/// errors where there is an effect: the likelihood under one over that under none.
double evidence_of_t(double t, double freedom, double size) {
  const double y = t / std::sqrt(t * t + freedom);
  const double none = log_integral(freedom, 0);
  double sum = 0;
  for (const double effect : kEffects) {
    const double shift = effect * std::sqrt(size);
    sum += std::exp(log_integral(freedom, shift * y) - none - shift * shift / 2);
  }
  return sum / static_cast<double>(kEffects.size());
}

/// t where nothing varies: as large as makes a difference.
double statistic(double difference, double error) {
  constexpr double kMost = 1e6;
  if (difference == 0) return 0;
  return error > 0 ? std::clamp(difference / error, -kMost, kMost)
                   : std::copysign(kMost, difference);
}

}  // namespace

double evidence_above_zero(std::span<const double> values) {
  if (values.size() < 2) return 1;
  const auto n = static_cast<double>(values.size());
  const double middle = mean(values);
  const double error = std::sqrt(squares_around_mean(values) / (n - 1) / n);
  if (middle == 0 && error == 0) return 1;
  return evidence_of_t(statistic(middle, error), n - 1, n);
}

double evidence_of_difference(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty() || a.size() + b.size() < 3) return 1;
  const auto n_a = static_cast<double>(a.size());
  const auto n_b = static_cast<double>(b.size());
  const double freedom = n_a + n_b - 2;
  const double size = n_a * n_b / (n_a + n_b);
  const double variance = (squares_around_mean(a) + squares_around_mean(b)) / freedom;
  const double difference = mean(b) - mean(a);
  if (difference == 0 && variance == 0) return 1;
  return evidence_of_t(statistic(difference, std::sqrt(variance / size)), freedom, size);
}

double detectable_effect(int values, double evidence) {
  constexpr double kPower80 = 0.8416;  // quantile of the normal distribution
  const double n = values;
  if (values < 2) return INFINITY;
  double low = 0, high = 1e3;  // of t
  if (evidence_of_t(high, n - 1, n) < evidence) return INFINITY;
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (evidence_of_t(middle, n - 1, n) < evidence ? low : high) = middle;
  }
  return (high + kPower80) / std::sqrt(n);
}

}  // namespace unstarve::gate
