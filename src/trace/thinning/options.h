#pragma once

#include <cstdint>

#include "trace/timeline/slot_plan.h"

namespace unstarve::trace {

/// When a run is thinned out, and how fast.
struct ThinningOptions {
  /// Rows beyond which half of the slots go: a little more than an hour at 45 ms a step with 4
  /// workers.
  std::int64_t rows_max = 1'000'000;
  std::int64_t slot_ns = SlotPlan{}.slot_ns;
  /// What is younger may still come out of some ring.
  std::int64_t settled_after_ns = 30'000'000'000;
  /// A process that does not step for so long is not waited for.
  std::int64_t patience_ns = 600'000'000'000;
  /// A job that writes too many rows for so many slots is not thinned out further.
  std::int64_t slots_min = 8;
  /// At one commit, so that none takes long.
  std::int64_t rows_at_once = 20'000;
};

}  // namespace unstarve::trace
