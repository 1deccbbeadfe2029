#include <algorithm>

#include "diagnose/partition/partition.h"

namespace unstarve::diagnose {

namespace {

/// From the first to the last of what was recorded of the host and of its devices.
trace::Interval recorded_span(const trace::Timeline& timeline, trace::Interval span) {
  for (const trace::HostCall& call : timeline.host_calls) {
    span.start_ns = std::min(span.start_ns, call.start_ns);
    span.end_ns = std::max(span.end_ns, call.end_ns);
  }
  return span;
}

}  // namespace

std::optional<job::SetAside> too_little(const job::JobView& job,
                                        const std::vector<DevicePartition>& partitions) {
  if (partitions.empty()) return std::nullopt;
  constexpr std::int64_t kFewest = 10;
  constexpr double kMoment = 0.05;  // of what was recorded
  job::SetAside aside{job::AsideReason::kTooLittle};
  for (const DevicePartition& partition : partitions) {
    if (!job.ranks()[partition.rank].steps.empty()) return std::nullopt;
    aside.operations += partition.ops;
    aside.busy_ns = std::max(aside.busy_ns, partition.time.busy_ns());
  }
  const trace::Interval& span = partitions.front().span;  // that of all
  const trace::Interval recorded = recorded_span(job.timeline(), span);
  aside.of_ns = recorded.duration_ns();
  const bool moment = static_cast<double>(span.duration_ns()) <
                      kMoment * static_cast<double>(recorded.duration_ns());
  return aside.operations < kFewest || moment ? std::optional(aside) : std::nullopt;
}

}  // namespace unstarve::diagnose
