#include "roofline/roofs/repeats.h"

#include <algorithm>
#include <utility>

#include "base/statistics.h"

namespace unstarve::roofline {

Repeats summarise(std::vector<double> values) {
  Repeats result;
  if (values.empty()) return result;
  result.best = *std::max_element(values.begin(), values.end());
  result.median = median(values);
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

}  // namespace unstarve::roofline
