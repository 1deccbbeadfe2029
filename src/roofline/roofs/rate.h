#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "roofline/roofs/session.h"

namespace unstarve::roofline {

/// How long threads work, and in how many stretches their rate is taken.
struct RatePlan {
  int threads = 1;
  std::int64_t duration_ns = 0;  // of all windows together
  int windows = 5;
};

/// Does one piece of work and says how much that was.
using Work = std::function<Result<double>()>;
/// Makes the work of one thread, in that thread.
using MakeWork = std::function<Result<Work>(int thread)>;

/// What `plan.threads` threads do together in a second, for each window; what they do before the
/// first, a fifth of the time at most, is not counted. Fewer windows where somebody asked to stop.
/// Errors: of the first thread whose work failed.
Result<std::vector<double>> measure_rate(const RatePlan& plan, const MakeWork& make_work,
                                         Session& session);

/// 1, 2, 4, ... and `most`.
std::vector<int> thread_counts(int most);

}  // namespace unstarve::roofline
