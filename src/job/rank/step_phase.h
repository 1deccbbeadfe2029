#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/reading.h"
#include "job/rank/loader_use.h"
#include "trace/timeline/timeline.h"

namespace unstarve::job {

/// What a job does in one step. A step lasts from one optimizer step to the next, so whatever comes
/// between two of them lies in it.
enum class StepPhase : std::uint8_t {
  kWarmUp,      // a live run's first: imports, start-up, the first fill of the queues
  kTraining,    // one batch, one update
  kEvaluation,  // holds a pass over another loader than those that feed the training
};

/// Steps at the start that are warm-up, as in MLPerf's AU: one of a live run when another remains,
/// none of a trace, whose owner began to record when he chose.
std::size_t warm_up_steps(trace::InputKind input, std::size_t steps);

/// The phase of each of `steps`, which are by start.
std::vector<StepPhase> tell_phases(const std::vector<trace::Step>& steps,
                                   const std::vector<LoaderUse>& loaders, std::size_t warm_up);

/// Index of the step that `t_ns` lies in, or -1. `steps` are by start and do not overlap.
std::ptrdiff_t step_at(const std::vector<trace::Step>& steps, std::int64_t t_ns);

}  // namespace unstarve::job
