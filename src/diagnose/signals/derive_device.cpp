#include <algorithm>
#include <map>

#include "diagnose/signals/derive.h"

namespace unstarve::diagnose {

namespace {

using trace::CopyDirection;
using trace::DeviceOp;
using trace::DeviceOpKind;
using trace::MemoryKind;

/// Whether it lies, at least in part, in the time that the partition is of.
bool is_recorded(std::int64_t start_ns, std::int64_t end_ns, const DevicePartition& partition) {
  const auto part = std::partition_point(
      partition.parts.begin(), partition.parts.end(),
      [start_ns](const job::RecordedPart& one) { return one.when.end_ns <= start_ns; });
  return part != partition.parts.end() && part->when.start_ns < end_ns;
}

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
    if (op.device != worst.device || !is_recorded(op.start_ns, op.end_ns, worst)) continue;
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
  out.kernel_ns_median = median(kernels);
  if (steps > 0) {
    out.launches_per_step = ops / steps;
    out.h2d_copies_per_step = static_cast<double>(h2d_bytes.size()) / steps;
  }
  out.h2d_bytes_median = median(h2d_bytes);
  if (known_bytes > 0) out.pageable_ratio = pageable_bytes / known_bytes;
  out.copy_overlap_ratio = hidden_ratio(worst.time.copy_ns, worst.of(Cause::kExposedCopy));
  out.communication_overlap_ratio =
      hidden_ratio(worst.time.communication_ns, worst.of(Cause::kExposedCommunication));
}

// How often the training thread blocked, and in which call for longest.
void derive_syncs(const SignalSources& sources, double steps, Signals& out) {
  const DevicePartition& worst = *sources.worst;
  const std::vector<job::ThreadKey>& training = sources.rank.training;
  if (sources.timeline().host_calls.empty()) return;
  double count = 0;
  for (const job::ThreadKey& thread : training) {
    for (const trace::Interval& call : sources.job.host().blocking_calls(thread)) {
      if (is_recorded(call.start_ns, call.end_ns, worst)) ++count;
    }
  }
  if (steps > 0) out.syncs_per_step = count / steps;

  std::map<trace::NameId, std::int64_t> blocked;
  for (const trace::HostCall& call : sources.timeline().host_calls) {
    if (call.kind != trace::HostCallKind::kSync) continue;
    const job::ThreadKey thread = {call.process, call.thread};
    if (!std::binary_search(training.begin(), training.end(), thread)) continue;
    if (!is_recorded(call.start_ns, call.end_ns, worst)) continue;
    blocked[call.name] += call.end_ns - call.start_ns;
  }
  const auto longest =
      std::max_element(blocked.begin(), blocked.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (longest != blocked.end()) {
    out.blocking_call = std::string(sources.timeline().name_of(longest->first));
  }
}

void derive_longest_gap(const DevicePartition& worst, Signals& out) {
  const std::int64_t launch_ns = worst.of(Cause::kLaunch);
  if (launch_ns <= 0) return;
  std::int64_t longest_ns = 0;
  for (const IdleSlice& slice : worst.idle) {
    if (slice.cause == Cause::kLaunch) longest_ns = std::max(longest_ns, slice.when.duration_ns());
  }
  out.longest_launch_gap_ratio = static_cast<double>(longest_ns) / static_cast<double>(launch_ns);
}

}  // namespace

void derive_device_signals(const SignalSources& sources, Signals& out) {
  if (sources.worst == nullptr) return;
  const double steps = out.recorded_step_count.value_or(0);
  derive_work(sources, steps, out);
  derive_syncs(sources, steps, out);
  derive_longest_gap(*sources.worst, out);
}

}  // namespace unstarve::diagnose
