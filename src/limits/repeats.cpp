#include "limits/repeats.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace unstarve::limits {

namespace {

/// Of sorted values, between two of them in proportion.
double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(place));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double part = place - std::floor(place);
  return sorted[below] + part * (sorted[above] - sorted[below]);
}

}  // namespace

Repeats summarise(std::vector<double> values) {
  Repeats result;
  if (values.empty()) return result;
  std::sort(values.begin(), values.end());
  result.best = values.back();
  result.median = quantile(values, 0.5);
  const double between = quantile(values, 0.75) - quantile(values, 0.25);
  result.spread_ratio = result.median > 0 ? between / result.median : 0;
  result.count = static_cast<int>(values.size());
  return result;
}

Roof make_roof(std::string name, std::string unit, const std::vector<double>& values) {
  const Repeats repeats = summarise(values);
  Roof roof;
  roof.name = std::move(name);
  roof.value = repeats.best;
  roof.unit = std::move(unit);
  roof.spread_ratio = repeats.spread_ratio;
  roof.conditions = {{"median", repeats.median}, {"repeats", std::int64_t{repeats.count}}};
  return roof;
}

}  // namespace unstarve::limits
