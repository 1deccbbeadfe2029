#pragma once

#include <cstdint>
#include <vector>

#include "job/repetition/folding.h"

namespace unstarve::job {

/// One operation that a process launched, as far as it matters to what repeats.
struct Launched {
  std::uint32_t what = 0;      // the same for operations that are alike; below 2^31
  bool touches_host = false;   // copies from or to the host, or the host waits for the device then
  bool begins_window = false;  // what was launched before it was not recorded
};

/// Every time through the unit that `sequence` repeats, in order; of one window each. None where no
/// unit comes at least six times and makes up a third of the sequence, or where it is too short to
/// be more than the same kernel again.
///
/// Of units within units the innermost is taken that touches the host, as a batch that comes or a
/// result that is read do; of several of these the longest. Where none does it is the outermost,
/// unless that adds nothing but a remark (two operations at most) to the times through an inner
/// one: layers are no steps, and neither is what lies between two lines of a log.
std::vector<Stretch> repeated_stretches(const std::vector<Launched>& sequence);

}  // namespace unstarve::job
