#pragma once

#include <cstdint>

#include "trace/timeline/interval.h"

namespace unstarve::trace {

/// Which of a run's equal slots of time are kept whole. At level n one of each 2^n neighbours is,
/// drawn by lot, so that nothing that comes back every so often is always in it, or never. What a
/// level keeps every lower one keeps too. The first slot is always kept: it holds the start-up.
///
///   SlotPlan plan{.origin_ns = started_ns, .level = 2};
///   if (!plan.keeps(plan.slot_at(t_ns))) ...
struct SlotPlan {
  std::int64_t origin_ns = 0;
  std::int64_t slot_ns = 10'000'000'000;  // some hundred steps of most jobs
  int level = 0;                          // 0: nothing was thinned out

  /// What lies before the origin counts as in the first slot.
  std::int64_t slot_at(std::int64_t t_ns) const;
  Interval slot(std::int64_t number) const;
  /// The neighbours of which one is kept, together.
  Interval block_of(std::int64_t number) const;
  bool keeps(std::int64_t number) const;
  /// Whether nothing was dropped from one instant to a later one.
  bool is_whole(std::int64_t from_ns, std::int64_t to_ns) const;
};

}  // namespace unstarve::trace
