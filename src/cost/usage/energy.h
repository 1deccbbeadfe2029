#pragma once

#include <span>

#include "base/reading.h"
#include "trace/run_reader.h"
#include "trace/timeline/timeline.h"

namespace unstarve::cost {

/// What something took in a stretch of time, as far as it was measured.
struct Energy {
  Reading<double> joules = {};  // absent: at no moment of it
  double covered_ratio = 0;     // of the time in which it was measured
};

/// By a counter. Between two readings it grows evenly. Where it went back it began anew (a driver
/// that was loaded again), and the time between those two readings is not covered.
Energy energy_by_counter(std::span<const trace::SeriesPoint> joules, const trace::Interval& when);

/// By readings of the power, W: straight lines between readings at most 5 s apart.
Energy energy_by_power(std::span<const trace::SeriesPoint> watts, const trace::Interval& when);

}  // namespace unstarve::cost
