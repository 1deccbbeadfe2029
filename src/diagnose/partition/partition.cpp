#include "diagnose/partition/partition.h"

#include <algorithm>
#include <limits>
#include <map>

#include "base/check.h"
#include "diagnose/partition/gap.h"
#include "diagnose/partition/host_index.h"
#include "diagnose/partition/job_threads.h"

namespace unstarve::diagnose {

namespace {

using OpList = std::vector<std::uint32_t>;

std::map<std::int32_t, OpList> ops_by_device(const trace::Timeline& timeline) {
  std::map<std::int32_t, OpList> devices;
  for (std::size_t i = 0; i < timeline.device_ops.size(); ++i) {
    devices[timeline.device_ops[i].device].push_back(static_cast<std::uint32_t>(i));
  }
  return devices;
}

// Without steps the span is from the first to the last operation of any device, so that the
// shares of several devices are of the same time.
trace::Interval span_of_ops(const trace::Timeline& timeline) {
  trace::Interval span = {std::numeric_limits<std::int64_t>::max(),
                          std::numeric_limits<std::int64_t>::min()};
  for (const trace::DeviceOp& op : timeline.device_ops) {
    span.start_ns = std::min(span.start_ns, op.start_ns);
    span.end_ns = std::max(span.end_ns, op.end_ns);
  }
  return span;
}

// Three running unions over operations sorted by start. What an operation adds to the union of
// its class and all classes of higher priority is that class's own time, less what the higher
// classes add later; hence three unions and two subtractions.
class BusySweep {
 public:
  explicit BusySweep(std::int64_t start_ns) : ends_{start_ns, start_ns, start_ns} {}

  std::int64_t busy_until() const { return ends_[2]; }

  void add(trace::DeviceOpKind kind, std::int64_t start_ns, std::int64_t end_ns) {
    for (std::size_t level = level_of(kind); level < ends_.size(); ++level) {
      covered_[level] += std::max<std::int64_t>(0, end_ns - std::max(start_ns, ends_[level]));
      ends_[level] = std::max(ends_[level], end_ns);
    }
  }

  void store(DevicePartition& out) const {
    const auto put = [&out](Cause cause, std::int64_t ns) {
      out.ns[static_cast<std::size_t>(cause)] = ns;
    };
    put(Cause::kGpuCompute, covered_[0]);
    put(Cause::kExposedCommunication, covered_[1] - covered_[0]);
    put(Cause::kExposedCopy, covered_[2] - covered_[1]);
    out.busy_ns = covered_[2];
  }

 private:
  static std::size_t level_of(trace::DeviceOpKind kind) {
    switch (kind) {
      case trace::DeviceOpKind::kCompute:
      case trace::DeviceOpKind::kMemset: return 0;
      case trace::DeviceOpKind::kCommunication: return 1;
      case trace::DeviceOpKind::kCopy: return 2;
    }
    return 0;
  }

  std::array<std::int64_t, 3> ends_;
  std::array<std::int64_t, 3> covered_{};
};

DevicePartition partition_device(const trace::Timeline& timeline, const OpList& ops,
                                 const HostIndex& index, const PartitionOptions& options) {
  DevicePartition out;
  out.job = find_job_threads(timeline, index, ops);
  out.device = timeline.device_ops[ops.front()].device;
  const Reading<trace::Interval> steps = span_of_steps(out.job.steps, options.leave_out_first_step);
  out.span = steps ? *steps : span_of_ops(timeline);

  BusySweep sweep(out.span.start_ns);
  GapAttributor gaps(index, out.job, options, out);
  const trace::DeviceOp* last = nullptr;
  for (const std::uint32_t i : ops) {
    const trace::DeviceOp& op = timeline.device_ops[i];
    const std::int64_t start = std::max(op.start_ns, out.span.start_ns);
    const std::int64_t end = std::min(op.end_ns, out.span.end_ns);
    if (end <= start) continue;  // outside the span, or without length
    ++out.ops;
    if (index.launch_of(op) == nullptr) ++out.ops_without_launch;
    if (start > sweep.busy_until()) {
      const bool first_recorded = i == ops.front();
      gaps.before(op, {sweep.busy_until(), start}, first_recorded);
    }
    sweep.add(op.kind, start, end);
    last = &op;
  }
  if (out.span.end_ns > sweep.busy_until()) {
    gaps.tail(last, {sweep.busy_until(), out.span.end_ns});
  }
  sweep.store(out);
  return out;
}

}  // namespace

double DevicePartition::share(Cause cause) const {
  const std::int64_t length = span.duration_ns();
  return length > 0 ? static_cast<double>(of(cause)) / static_cast<double>(length) : 0.0;
}

std::vector<DevicePartition> partition_devices(const trace::Timeline& timeline,
                                               const HostIndex& index,
                                               const PartitionOptions& options) {
  std::vector<DevicePartition> partitions;
  for (const auto& [device, ops] : ops_by_device(timeline)) {
    DevicePartition partition = partition_device(timeline, ops, index, options);
    if (partition.span.duration_ns() > 0) partitions.push_back(std::move(partition));
  }
  return partitions;
}

std::size_t worst_device(const std::vector<DevicePartition>& partitions) {
  UNSTARVE_CHECK(!partitions.empty(), "there is no worst of no devices");
  std::size_t worst = 0;
  for (std::size_t i = 1; i < partitions.size(); ++i) {
    if (partitions[i].share(Cause::kGpuCompute) < partitions[worst].share(Cause::kGpuCompute)) {
      worst = i;
    }
  }
  return worst;
}

}  // namespace unstarve::diagnose
