#pragma once

#include "base/reading.h"

namespace unstarve::roofline {

/// What each CPU after the first adds for code that computes and branches in the nearest caches, as
/// an interpreter or a decoder does: 1 where CPUs share nothing, some 0.2 where two of them are one
/// core's threads. Runs `threads` threads (2 to 8) for about 0.3 s; what others use of the CPUs
/// meanwhile counts as not there. Absent where fewer than two are asked for, or start.
Reading<double> measure_core_scaling(int threads);

}  // namespace unstarve::roofline
