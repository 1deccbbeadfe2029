#pragma once

#include <string_view>
#include <vector>

#include "base/reading.h"
#include "trace/run_reader.h"
#include "trace/timeline.h"

namespace unstarve::trace {

/// A metric's samples in `when`; of what never changes, and is written once, the last one before.
std::vector<SeriesPoint> points_in(const RunReader& run, std::string_view metric,
                                   std::string_view subject, const Interval& when);

/// Mean of a metric's samples in `when`; absent with the last reason where it has none there.
Reading<double> mean_in(const RunReader& run, std::string_view metric, std::string_view subject,
                        const Interval& when);

}  // namespace unstarve::trace
