#pragma once

#include "base/result.h"

namespace unstarve::feed {

/// How many threads a job takes when `asked` is given: 0 is as many as the process may use CPUs.
Result<int> thread_count(int asked);

}  // namespace unstarve::feed
