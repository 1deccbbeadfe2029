#include "job/rank/recorded.h"

#include <algorithm>
#include <limits>

namespace unstarve::job {

namespace {

/// One interval of each of the process's windows, merged; `which` says which.
std::vector<trace::Interval> merged_of(const trace::Timeline& timeline, std::int64_t process,
                                       trace::Interval trace::RecordedWindow::*which) {
  std::vector<trace::Interval> merged;
  for (const trace::RecordedWindow& window : timeline.windows) {  // by start
    if (process != 0 && window.process != 0 && window.process != process) continue;
    const trace::Interval& interval = window.*which;
    // One without length holds nothing, but says that not all the time was recorded.
    const std::int64_t end_ns = std::max(interval.start_ns, interval.end_ns);
    if (!merged.empty() && interval.start_ns <= merged.back().end_ns) {
      merged.back().end_ns = std::max(merged.back().end_ns, end_ns);
    } else {
      merged.push_back({interval.start_ns, end_ns});
    }
  }
  return merged;
}

}  // namespace

std::vector<trace::Interval> windows_of(const trace::Timeline& timeline, std::int64_t process) {
  return merged_of(timeline, process, &trace::RecordedWindow::when);
}

std::vector<trace::Interval> interruptions_of(const trace::Timeline& timeline,
                                              std::int64_t process) {
  return merged_of(timeline, process, &trace::RecordedWindow::interruption);
}

std::int64_t undisturbed_ns(const Rank& rank, const trace::Interval& when) {
  return when.duration_ns() - covered_ns(rank.interruptions, when);
}

std::vector<RecordedPart> recorded_parts(const Rank& rank, const trace::Interval& span) {
  if (span.end_ns <= span.start_ns) return {};
  if (rank.windows.empty()) {
    constexpr trace::Interval kWithoutEnds = {std::numeric_limits<std::int64_t>::min(),
                                              std::numeric_limits<std::int64_t>::max()};
    return {{span, kWithoutEnds}};
  }
  std::vector<RecordedPart> parts;
  for (const trace::Interval& window : rank.windows) {
    const trace::Interval part = {std::max(window.start_ns, span.start_ns),
                                  std::min(window.end_ns, span.end_ns)};
    if (part.end_ns > part.start_ns) parts.push_back({part, window});
  }
  return parts;
}

std::int64_t covered_ns(const std::vector<trace::Interval>& intervals,
                        const trace::Interval& within) {
  auto at = std::partition_point(
      intervals.begin(), intervals.end(),
      [&within](const trace::Interval& interval) { return interval.end_ns <= within.start_ns; });
  std::int64_t covered = 0;
  for (; at != intervals.end() && at->start_ns < within.end_ns; ++at) {
    covered += std::min(at->end_ns, within.end_ns) - std::max(at->start_ns, within.start_ns);
  }
  return covered;
}

double steps_in(const std::vector<trace::Step>& steps, const std::vector<RecordedPart>& parts) {
  std::vector<trace::Interval> covered;
  covered.reserve(parts.size());
  for (const RecordedPart& part : parts) covered.push_back(part.when);
  double count = 0;
  for (const trace::Step& step : steps) {
    const std::int64_t length_ns = step.when.duration_ns();
    if (length_ns <= 0) continue;
    count += static_cast<double>(covered_ns(covered, step.when)) / static_cast<double>(length_ns);
  }
  return count;
}

}  // namespace unstarve::job
