#pragma once

#include <cstdint>
#include <vector>

#include "tune/levers/family.h"

namespace unstarve::tune {

/// One lever for each number of threads that may be better than what the job has. In the words of
/// `lever`, and the lines of its edit, {} stands for their number; the job has `known`.
std::vector<Lever> thread_counts(const Lever& lever, std::int64_t known, std::int64_t cpus);

}  // namespace unstarve::tune
