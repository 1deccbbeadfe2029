#include "diagnose/partition/partition.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"
#include "diagnose/partition/gap.h"

namespace unstarve::diagnose {

namespace {

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

void store(const job::DeviceTime& time, DevicePartition& out) {
  const auto put = [&out](Cause cause, std::int64_t ns) {
    out.ns[static_cast<std::size_t>(cause)] = ns;
  };
  put(Cause::kGpuCompute, time.compute_ns);
  put(Cause::kExposedCommunication, time.exposed_communication_ns);
  put(Cause::kExposedCopy, time.exposed_copy_ns);
  out.time = time;
}

DevicePartition partition_device(const job::JobView& view, const job::DeviceWork& work,
                                 const PartitionOptions& options) {
  const trace::Timeline& timeline = view.timeline();
  DevicePartition out;
  out.device = work.device;
  out.rank = work.rank;
  const job::Rank& rank = view.rank_of(work);
  out.span = rank.span ? *rank.span : span_of_ops(timeline);

  job::DeviceTimeSweep sweep(out.span);
  GapAttributor gaps(view.host(), rank, options, out);
  const trace::DeviceOp* last = nullptr;
  for (const std::uint32_t i : work.ops) {
    const trace::DeviceOp& op = timeline.device_ops[i];
    const std::int64_t start = std::max(op.start_ns, out.span.start_ns);
    const std::int64_t end = std::min(op.end_ns, out.span.end_ns);
    if (end <= start) continue;  // outside the span, or without length
    ++out.ops;
    if (view.host().launch_of(op) == nullptr) ++out.ops_without_launch;
    if (start > sweep.busy_until_ns()) {
      const bool first_recorded = i == work.ops.front();
      gaps.before(op, {sweep.busy_until_ns(), start}, first_recorded);
    }
    sweep.add(op);
    last = &op;
  }
  if (out.span.end_ns > sweep.busy_until_ns()) {
    gaps.tail(last, {sweep.busy_until_ns(), out.span.end_ns});
  }
  store(sweep.time(), out);
  return out;
}

}  // namespace

double DevicePartition::share(Cause cause) const {
  const std::int64_t length = span.duration_ns();
  return length > 0 ? static_cast<double>(of(cause)) / static_cast<double>(length) : 0.0;
}

std::vector<DevicePartition> partition_devices(const job::JobView& job,
                                               const PartitionOptions& options) {
  std::vector<DevicePartition> partitions;
  for (const job::DeviceWork& work : job.devices()) {
    DevicePartition partition = partition_device(job, work, options);
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

PartitionedJob::PartitionedJob(const job::JobView& of, const PartitionOptions& options)
    : job(of), devices(partition_devices(of, options)) {}

const DevicePartition* PartitionedJob::worst() const {
  return devices.empty() ? nullptr : &devices[worst_device(devices)];
}

}  // namespace unstarve::diagnose
