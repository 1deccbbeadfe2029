#include "base/statistics.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "base/check.h"

namespace unstarve {

double mean(std::span<const double> values) {
  UNSTARVE_CHECK(!values.empty(), "a mean needs a value");
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
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

}  // namespace unstarve
