#include "base/statistics.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>

#include "base/check.h"

namespace unstarve {

double mean(std::span<const double> values) {
  UNSTARVE_CHECK(!values.empty(), "a mean needs a value");
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double squares_around_mean(std::span<const double> values) {
  const double middle = mean(values);
  return std::accumulate(values.begin(), values.end(), 0.0, [middle](double sum, double value) {
    return sum + (value - middle) * (value - middle);
  });
}

double median(std::vector<double> values) {
  UNSTARVE_CHECK(!values.empty(), "a median needs a value");
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

double quantile(std::vector<double> values, double q) {
  UNSTARVE_CHECK(!values.empty(), "a quantile needs a value");
  std::sort(values.begin(), values.end());
  const double at = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

double student_95(int degrees) {
  constexpr std::array<double, 4> kFew = {6.31375, 2.91999, 2.35336, 2.13185};
  if (degrees <= static_cast<int>(kFew.size())) {
    return kFew[static_cast<std::size_t>(std::max(degrees, 1) - 1)];
  }
  // Abramowitz and Stegun 26.7.5, from the normal distribution's.
  const double z = 1.6448536;
  const double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
  const double v = degrees;
  return z + (z3 + z) / (4 * v) + (5 * z5 + 16 * z3 + 3 * z) / (96 * v * v) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * v * v * v);
}

}  // namespace unstarve
