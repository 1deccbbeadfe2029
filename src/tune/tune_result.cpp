#include "tune/tune_result.h"

#include <algorithm>

namespace unstarve::tune {

double step_as_it_is_s(const TuneResult& result) {
  std::vector<double> steps_s = result.as_it_is_s;
  if (steps_s.empty()) return result.baseline.mean_step_s;
  const auto middle = steps_s.begin() + static_cast<std::ptrdiff_t>(steps_s.size() / 2);
  std::nth_element(steps_s.begin(), middle, steps_s.end());
  return *middle;
}

}  // namespace unstarve::tune
