#pragma once

#include <cstddef>
#include <limits>

#include "predict/resampling.h"

/// What every simulation of a pipeline takes for granted.
namespace unstarve::predict {

inline constexpr double kNever = std::numeric_limits<double>::infinity();
// Work below this many seconds is done: protects the event loop from rounding.
inline constexpr double kDone = 1e-12;
// How many steps the host may run ahead of the device before a launch blocks: the launch queue
// holds about a thousand operations, a training step has hundreds.
inline constexpr std::size_t kStepsAheadOfDevice = 4;

// Steps per simulated run: enough for the queue to settle and for a mean within 1 %.
inline constexpr std::size_t kSimulatedSteps = 96;
inline constexpr std::size_t kWarmUpSteps = 16;

// What the model leaves out (scheduling, caches, allocation, a job that is not the same twice): in
// ten demos it was off by 2.9 % (root mean square), see docs/measurements.md.
inline constexpr Range kModelError = {0.94, 1.06};
// A machine is not as fast in one trial as it is in the next: on one with neighbours, the CPU time
// of the same fetches had a standard deviation of 3.5 % from trial to trial, so that two differ by
// 5 %.
inline constexpr Range kTrialToTrial = {0.92, 1.08};

// How many standard errors a range of measured values reaches to either side.
inline constexpr double kErrors = 2;

}  // namespace unstarve::predict
