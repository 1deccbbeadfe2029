#include <algorithm>
#include <map>
#include <numeric>

#include "diagnose/signals/derive.h"

namespace unstarve::diagnose {

namespace {

using trace::CopyDirection;
using trace::DeviceOp;
using trace::DeviceOpKind;
using trace::MemoryKind;

Reading<double> hidden_ratio(std::int64_t all_ns, std::int64_t exposed_ns) {
  if (all_ns <= 0) return WhyAbsent::kNotObserved;
  return 1.0 - static_cast<double>(exposed_ns) / static_cast<double>(all_ns);
}

void derive_work(const SignalSources& sources, double steps, Signals& out) {
  const DevicePartition& worst = *sources.worst;
  std::vector<double> kernels;
  std::vector<double> h2d_bytes;
  double ops = 0;
  double known_bytes = 0;
  double pageable_bytes = 0;
  for (const DeviceOp& op : sources.timeline().device_ops) {
    if (op.device != worst.device || !lies_in_recording({op.start_ns, op.end_ns}, worst)) continue;
    ++ops;
    if (op.kind == DeviceOpKind::kCompute) {
      kernels.push_back(static_cast<double>(op.end_ns - op.start_ns));
    }
    if (op.kind != DeviceOpKind::kCopy) continue;
    if (op.direction != CopyDirection::kHostToDevice) continue;
    const double bytes = static_cast<double>(op.bytes);
    h2d_bytes.push_back(bytes);
    if (op.source != MemoryKind::kUnknown) known_bytes += bytes;
    if (op.source == MemoryKind::kPageable) pageable_bytes += bytes;
  }
  out.kernel_ns_median = median_of(kernels);
  if (steps > 0) {
    out.launches_per_step = ops / steps;
    out.h2d_copies_per_step = static_cast<double>(h2d_bytes.size()) / steps;
    out.h2d_bytes_per_step = std::accumulate(h2d_bytes.begin(), h2d_bytes.end(), 0.0) / steps;
  }
  out.h2d_bytes_median = median_of(h2d_bytes);
  if (known_bytes > 0) out.pageable_ratio = pageable_bytes / known_bytes;
  out.copy_overlap_ratio = hidden_ratio(worst.time.copy_ns, worst.of(Cause::kExposedCopy));
  out.communication_overlap_ratio =
      hidden_ratio(worst.time.communication_ns, worst.of(Cause::kExposedCommunication));
}

/// The gaps that end with a launch which came too late: slices of one gap that touch are one.
std::vector<trace::Interval> launch_gaps(const DevicePartition& worst) {
  std::vector<trace::Interval> gaps;
  for (const IdleSlice& slice : worst.idle) {
    if (slice.cause != Cause::kLaunch) continue;
    if (!gaps.empty() && gaps.back().end_ns == slice.when.start_ns) {
      gaps.back().end_ns = slice.when.end_ns;
    } else {
      gaps.push_back(slice.when);
    }
  }
  return gaps;
}

/// What of the gaps the process that trains spends in calls about the GPU's memory.
Reading<double> allocation_ratio(const SignalSources& sources,
                                 const std::vector<trace::Interval>& gaps, double launch_ns) {
  double asking_ns = 0;
  for (const trace::HostCall& call : sources.timeline().host_calls) {
    if (!sources.owns(call.process) || call.kind != trace::HostCallKind::kAllocation) continue;
    asking_ns += static_cast<double>(job::covered_ns(gaps, {call.start_ns, call.end_ns}));
  }
  return std::min(1.0, asking_ns / launch_ns);
}

/// From one launch of a training thread to its next, in the median.
Reading<double> launch_interval_ns(const SignalSources& sources) {
  std::map<job::ThreadKey, std::int64_t> last_ns;
  std::vector<double> intervals;
  for (const trace::HostCall& call : sources.timeline().host_calls) {
    if (call.kind != trace::HostCallKind::kLaunch) continue;
    const job::ThreadKey thread = {call.process, call.thread};
    if (!lies_in_recording({call.start_ns, call.end_ns}, *sources.worst)) continue;
    const auto [last, is_first] = last_ns.try_emplace(thread, call.start_ns);
    if (!is_first) intervals.push_back(static_cast<double>(call.start_ns - last->second));
    last->second = call.start_ns;
  }
  return median_of(intervals);
}

/// From this length on the host did something else in a gap than to prepare the next launch.
double long_gap_ns(const SignalSources& sources) {
  constexpr double kShortestNs = 1e6;
  constexpr double kLongestNs = 5e6;
  constexpr double kLaunches = 20;
  const Reading<double> interval = launch_interval_ns(sources);
  return std::clamp(kLaunches * interval.value_or(0), kShortestNs, kLongestNs);
}

/// What the host did in the gaps, as far as it is known by name.
void derive_named_work(const job::Rank& rank, const std::vector<trace::Interval>& gaps,
                       double launch_ns, Signals& out) {
  using trace::HostWorkKind;
  std::map<HostWorkKind, double> ns_of;
  for (const trace::HostWork& work : rank.host_work) {
    ns_of[work.kind] += static_cast<double>(job::covered_ns(gaps, work.when));
  }
  const auto ratio_of = [&ns_of, launch_ns](HostWorkKind kind) {
    return std::min(1.0, ns_of[kind] / launch_ns);
  };
  double evaluating_ns = 0;
  for (std::size_t i = 0; i < rank.steps.size(); ++i) {
    if (rank.phases[i] != job::StepPhase::kEvaluation) continue;
    evaluating_ns += static_cast<double>(job::covered_ns(gaps, rank.steps[i].when));
  }
  out.collection_ratio = ratio_of(HostWorkKind::kCollection);
  out.save_ratio = ratio_of(HostWorkKind::kSave);
  out.empty_cache_ratio = ratio_of(HostWorkKind::kEmptyCache);
  out.compile_ratio =
      std::min(1.0, ratio_of(HostWorkKind::kCompilation) + ratio_of(HostWorkKind::kRecompilation));
  out.evaluation_ratio = std::min(1.0, evaluating_ns / launch_ns);
}

void derive_launch_gaps(const SignalSources& sources, double steps, Signals& out) {
  const double launch_ns = static_cast<double>(sources.worst->of(Cause::kLaunch));
  if (launch_ns <= 0) return;
  const std::vector<trace::Interval> gaps = launch_gaps(*sources.worst);
  const double long_ns = long_gap_ns(sources);
  std::vector<trace::Interval> long_gaps;
  std::vector<double> lengths;
  double longest_ns = 0;
  double in_long_ns = 0;
  for (const trace::Interval& gap : gaps) {
    const auto ns = static_cast<double>(gap.duration_ns());
    longest_ns = std::max(longest_ns, ns);
    if (ns < long_ns) continue;
    in_long_ns += ns;
    lengths.push_back(ns);
    long_gaps.push_back(gap);
  }
  out.longest_launch_gap_ratio = longest_ns / launch_ns;
  out.long_launch_gap_ratio = in_long_ns / launch_ns;
  if (steps > 0) out.long_launch_gaps_per_step = static_cast<double>(lengths.size()) / steps;
  out.long_launch_gap_ns_median = median_of(lengths);
  derive_named_work(sources.rank, long_gaps, launch_ns, out);
  out.allocation_ratio = allocation_ratio(sources, gaps, launch_ns);
}

}  // namespace

bool lies_in_recording(const trace::Interval& when, const DevicePartition& partition) {
  const auto part = std::partition_point(partition.parts.begin(), partition.parts.end(),
                                         [&when](const job::RecordedPart& candidate) {
                                           return candidate.when.end_ns <= when.start_ns;
                                         });
  return part != partition.parts.end() && part->when.start_ns < when.end_ns;
}

void derive_device_signals(const SignalSources& sources, Signals& out) {
  if (sources.worst == nullptr) return;
  const double steps = out.recorded_step_count.value_or(0);
  derive_work(sources, steps, out);
  derive_sync_signals(sources, steps, out);
  derive_launch_gaps(sources, steps, out);
}

}  // namespace unstarve::diagnose
