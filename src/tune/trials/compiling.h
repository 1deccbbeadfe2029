#pragma once

#include <vector>

#include "trace/timeline/interval.h"

namespace unstarve::tune {

/// `steps_s` with the mean of the others in the place of those in which torch.compile made a graph:
/// it does that once, as the first step warms up once, and what other runs took for the same steps
/// stays beside them. `when`: of each step. `compiling`: from the end of the step before to the end
/// of one in which it did, by the hook's own count of steps. As it is where fewer than two steps
/// would be left.
std::vector<double> without_compiling(const std::vector<double>& steps_s,
                                      const std::vector<trace::Interval>& when,
                                      const std::vector<trace::Interval>& compiling);

}  // namespace unstarve::tune
