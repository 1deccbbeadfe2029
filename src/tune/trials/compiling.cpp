#include "tune/trials/compiling.h"

#include <algorithm>
#include <numeric>

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

std::vector<std::size_t> steps_without_compiling(const std::vector<trace::Interval>& steps,
                                                 const std::vector<trace::Interval>& compiling) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool compiles =
        std::any_of(compiling.begin(), compiling.end(),
                    [&](const trace::Interval& one) { return holds(steps[i], one); });
    if (!compiles) found.push_back(i);
  }
  if (found.size() >= 2) return found;
  found.resize(steps.size());
  std::iota(found.begin(), found.end(), 0);
  return found;
}

}  // namespace unstarve::tune
