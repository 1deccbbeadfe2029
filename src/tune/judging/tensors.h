#pragma once

#include "tune/judging/parity.h"

namespace unstarve::tune {

/// Where a job with a lever makes something else of one of its tensors than the job as it is;
/// none: of none. By tensor, since one that stands still hardly changes the length of all
/// together: whether it is there, which updates found a gradient of it, how far and whither it has
/// moved behind the first steps, and how far at the end. What two runs of the same seed differ by
/// is allowed, and what rounding makes of it. `drift`: by how much the first gradients differ,
/// which updates follow.
Reason differs_in_tensors(const ParityBaseline& baseline, const TrialResult& candidate,
                          Numerics numerics, bool fewer_bits, double drift);

/// Where it calls its model more or less often, or with more or fewer numbers, or leaves its random
/// generators elsewhere; none: nowhere.
Reason differs_in_calls(const ParityBaseline& baseline, const TrialResult& candidate,
                        Numerics numerics);

}  // namespace unstarve::tune
