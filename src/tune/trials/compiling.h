#pragma once

#include <cstddef>
#include <vector>

#include "trace/interval.h"

namespace unstarve::tune {

/// Which of `steps` torch.compile made no graph in (indices): it does that once, as the first step
/// warms up once. `compiling`: from the end of the step before to the end of one in which it did,
/// by the hook's own count of steps. All of them where fewer than two would be left.
std::vector<std::size_t> steps_without_compiling(const std::vector<trace::Interval>& steps,
                                                 const std::vector<trace::Interval>& compiling);

}  // namespace unstarve::tune
