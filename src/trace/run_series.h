#pragma once

#include <string_view>
#include <vector>

#include "base/reading.h"
#include "trace/run_reader.h"
#include "trace/timeline/timeline.h"

namespace unstarve::trace {

/// A metric's samples in `when`; of what never changes, and is written once, the last one before.
std::vector<SeriesPoint> points_in(const RunReader& run, std::string_view metric,
                                   std::string_view subject, const Interval& when);

/// A sample and the time that it stands for: since the one before it.
struct SampledSpan {
  Interval when = {};
  Reading<double> value;
};

/// Those that begin and end in `when`, and within which nothing was left out of the run.
std::vector<SampledSpan> spans_in(const RunReader& run, std::string_view metric,
                                  std::string_view subject, const Interval& when);

/// Mean of a metric's samples in `when`; absent with the last reason where it has none there.
/// Samples that a long run no longer holds count too.
Reading<double> mean_in(const RunReader& run, std::string_view metric, std::string_view subject,
                        const Interval& when);

}  // namespace unstarve::trace
