#include "tune/trials/compiling.h"

#include <algorithm>
#include <cstddef>

namespace unstarve::tune {

namespace {

/// Steps as the hook's parts see them end some microseconds apart: a step holds what it has most
/// of.
bool holds(const trace::Interval& step, const trace::Interval& compiling) {
  const std::int64_t shared =
      std::min(step.end_ns, compiling.end_ns) - std::max(step.start_ns, compiling.start_ns);
  return shared > compiling.duration_ns() / 2;
}

}  // namespace

std::vector<double> without_compiling(const std::vector<double>& steps_s,
                                      const std::vector<trace::Interval>& when,
                                      const std::vector<trace::Interval>& compiling) {
  std::vector<std::size_t> compiled;
  double others_s = 0;
  for (std::size_t i = 0; i < steps_s.size(); ++i) {
    const bool is_one = std::any_of(
        compiling.begin(), compiling.end(),
        [&](const trace::Interval& compilation) { return holds(when[i], compilation); });
    if (is_one) compiled.push_back(i);
    if (!is_one) others_s += steps_s[i];
  }
  const std::size_t others = steps_s.size() - compiled.size();
  if (others < 2) return steps_s;
  std::vector<double> typical_s = steps_s;
  for (const std::size_t i : compiled) typical_s[i] = others_s / static_cast<double>(others);
  return typical_s;
}

}  // namespace unstarve::tune
