#pragma once

#include <cstdint>
#include <vector>

#include "job/rank/rank.h"
#include "trace/timeline/timeline.h"

namespace unstarve::job {

/// A part of a span in which device activity was recorded.
struct RecordedPart {
  trace::Interval when;
  trace::Interval window;  // of the recording, which may reach beyond the span
};

/// The windows in which the device activity of `process` (0: of any) was recorded; what overlaps is
/// one. None: it was recorded all the time.
std::vector<trace::Interval> windows_of(const trace::Timeline& timeline, std::int64_t process);

/// The time in which recording held that process up.
std::vector<trace::Interval> interruptions_of(const trace::Timeline& timeline,
                                              std::int64_t process);

/// The length of `when` without what recording took of it.
std::int64_t undisturbed_ns(const Rank& rank, const trace::Interval& when);

/// The parts of `span` in which the device activity of a rank was recorded, by start. Without
/// windows all of it is one part, of a recording without ends.
std::vector<RecordedPart> recorded_parts(const Rank& rank, const trace::Interval& span);

/// How much of `intervals` (disjoint, by start) lies in `within`.
std::int64_t covered_ns(const std::vector<trace::Interval>& intervals,
                        const trace::Interval& within);

/// How many of `steps` lie in `parts`, where of a step that lies there in part that part counts.
double steps_in(const std::vector<trace::Step>& steps, const std::vector<RecordedPart>& parts);

}  // namespace unstarve::job
