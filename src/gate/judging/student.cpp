#include "gate/judging/student.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/statistics.h"

namespace unstarve::gate {

namespace {

double not_zero(double value) {
  constexpr double kTiny = 1e-300;
  return std::abs(value) < kTiny ? kTiny : value;
}

/// The continued fraction of the incomplete beta function, by Lentz' method (Numerical Recipes,
/// chapter 6.4).
double beta_fraction(double a, double b, double x) {
  constexpr int kMostTerms = 500;
  constexpr double kPrecise = 1e-13;
  double c = 1;
  double d = 1 / not_zero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int m = 1; m < kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / not_zero(1 + even * d);
    c = not_zero(1 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / not_zero(1 + odd * d);
    c = not_zero(1 + odd / c);
    fraction *= d * c;
    if (std::abs(d * c - 1) < kPrecise) break;
  }
  return fraction;
}

/// The regularised incomplete beta function.
double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  // The fraction converges fast on one side; the other is its complement.
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/// t where nothing varies: as large as makes a difference.
double statistic(double difference, double error) {
  constexpr double kMost = 1e6;
  if (difference == 0) return 0;
  return error > 0 ? std::clamp(difference / error, -kMost, kMost)
                   : std::copysign(kMost, difference);
}

}  // namespace

double student_above(double t, double freedom) {
  const double beyond = incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2;
  return t > 0 ? beyond : 1 - beyond;
}

double student_bound(double share, double freedom) {
  double low = 0, high = 1e7;
  constexpr int kHalvings = 100;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (student_above(middle, freedom) > share ? low : high) = middle;
  }
  return high;
}

std::size_t kept_of(std::size_t count) {
  constexpr std::size_t kTrimmedPart = 5;
  constexpr std::size_t kFewest = 8;
  return count < kFewest ? count : count - 2 * (count / kTrimmedPart);
}

TrimmedMean trimmed_mean(std::span<const double> values) {
  if (values.empty()) return {};
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t kept = kept_of(sorted.size());
  const std::size_t cut = (sorted.size() - kept) / 2;
  TrimmedMean found;
  found.mean = mean(std::span(sorted).subspan(cut, kept));
  if (sorted.size() < 2) return found;
  // What was cut counts as the outermost that was kept.
  std::fill_n(sorted.begin(), cut, sorted[cut]);
  std::fill_n(sorted.end() - static_cast<std::ptrdiff_t>(cut), cut, sorted[cut + kept - 1]);
  const auto n = static_cast<double>(kept);
  found.error = std::sqrt(squares_around_mean(sorted) / (n * (n - 1)));
  found.freedom = n - 1;
  return found;
}

double p_above_zero(std::span<const double> values) {
  if (values.size() < 2) return 1;
  const TrimmedMean found = trimmed_mean(values);
  return student_above(statistic(found.mean, found.error), found.freedom);
}

double p_of_difference(std::span<const double> a, std::span<const double> b) {
  if (a.size() < 2 || b.size() < 2) return 1;
  const TrimmedMean of_a = trimmed_mean(a), of_b = trimmed_mean(b);
  const double square_a = of_a.error * of_a.error, square_b = of_b.error * of_b.error;
  const double square = square_a + square_b;
  // Welch's degrees of freedom, for two variances.
  const double spread = square_a * square_a / of_a.freedom + square_b * square_b / of_b.freedom;
  const double freedom = spread > 0 ? square * square / spread : of_a.freedom + of_b.freedom;
  return student_above(statistic(of_b.mean - of_a.mean, std::sqrt(square)), freedom);
}

}  // namespace unstarve::gate
