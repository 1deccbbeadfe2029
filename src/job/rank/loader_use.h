#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/reading.h"
#include "trace/timeline/timeline.h"

namespace unstarve::job {

/// One of a job's loaders: what was recorded of it, and what the job has it for. That is told by
/// when the training threads wait for it, not by which loader was made or iterated first: a trainer
/// may begin with a pass over the validation data.
struct LoaderUse {
  Reading<std::int64_t> id = {};              // absent where the recording names no loaders
  std::optional<trace::LoaderConfig> config;  // as it was last iterated; none: not recorded
  bool feeds_training = false;                // else an evaluation
  std::int64_t steps_fed = 0;                 // steps in which it was waited for
  std::int64_t waited_ns = 0;
  std::vector<trace::LoaderWait> waits;   // of the training threads, by start
  std::vector<trace::Fetch> fetches;      // by start, of every process
  trace::RowTotals thinned_waits = {};    // of those that a long run no longer holds
  trace::RowTotals thinned_fetches = {};  // likewise
};

/// Tells the loaders apart that `waits`, those of one rank's training threads, are for. Those that
/// feed the training come first, of several the one that was waited for longest. A loader that no
/// wait names is left out, unless it is the only one. `steps` are the rank's, by start.
std::vector<LoaderUse> tell_loaders_apart(const trace::Timeline& timeline, std::int64_t process,
                                          const std::vector<trace::LoaderWait>& waits,
                                          const std::vector<trace::Step>& steps);

}  // namespace unstarve::job
