#include "diagnose/partition/partition.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/check.h"
#include "diagnose/partition/gap.h"
#include "diagnose/partition/rank_rows.h"

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

/// Splits the time of one device, in one recorded part of the span after another.
class DeviceSweep {
 public:
  DeviceSweep(const job::JobView& view, const job::DeviceWork& work,
              const PartitionOptions& options, DevicePartition& out)
      : view_(view), work_(work), gaps_(view, work, options, out), out_(out) {}

  void run() {
    for (const job::RecordedPart& part : out_.parts) sweep(part);
    add(Cause::kGpuCompute, out_.time.compute_ns + out_.edge_busy_ns);
    add(Cause::kExposedCommunication, out_.time.exposed_communication_ns);
    add(Cause::kExposedCopy, out_.time.exposed_copy_ns);
  }

 private:
  void sweep(const job::RecordedPart& part);
  /// Those that may run in `part`: what runs on from earlier parts, then what begins before its
  /// end.
  std::vector<std::uint32_t> ops_until(std::int64_t end_ns);
  /// The first of those behind, nullptr where there is none.
  const trace::DeviceOp* next_op() const;
  void add(Cause cause, std::int64_t ns) { out_.ns[static_cast<std::size_t>(cause)] += ns; }

  const job::JobView& view_;
  const job::DeviceWork& work_;
  GapAttributor gaps_;
  DevicePartition& out_;
  std::size_t next_ = 0;                   // of work_.ops
  std::vector<std::uint32_t> still_runs_;  // at the end of the last part
};

std::vector<std::uint32_t> DeviceSweep::ops_until(std::int64_t end_ns) {
  const std::vector<trace::DeviceOp>& all = view_.timeline().device_ops;
  std::vector<std::uint32_t> ops = std::move(still_runs_);
  for (; next_ < work_.ops.size() && all[work_.ops[next_]].start_ns < end_ns; ++next_) {
    ops.push_back(work_.ops[next_]);
  }
  still_runs_.clear();
  for (const std::uint32_t i : ops) {
    if (all[i].end_ns > end_ns) still_runs_.push_back(i);
  }
  return ops;
}

const trace::DeviceOp* DeviceSweep::next_op() const {
  const std::vector<trace::DeviceOp>& all = view_.timeline().device_ops;
  const auto next =
      std::find_if(work_.ops.begin() + static_cast<std::ptrdiff_t>(next_), work_.ops.end(),
                   [&all](std::uint32_t i) { return job::has_length(all[i]); });
  return next == work_.ops.end() ? nullptr : &all[*next];
}

void DeviceSweep::sweep(const job::RecordedPart& part) {
  job::DeviceTimeSweep busy(part.when);
  const trace::DeviceOp* last = nullptr;
  bool first_recorded = true;
  for (const std::uint32_t i : ops_until(part.when.end_ns)) {
    const trace::DeviceOp& op = view_.timeline().device_ops[i];
    if (!job::has_length(op)) continue;  // it ends no gap, so that none is the first's
    const bool first =
        std::exchange(first_recorded, first_recorded && op.start_ns < part.window.start_ns);
    const std::int64_t start = std::max(op.start_ns, part.when.start_ns);
    if (std::min(op.end_ns, part.when.end_ns) <= start) continue;  // outside
    ++out_.ops;
    if (view_.host().launch_of(op) == nullptr) ++out_.ops_without_launch;
    if (start > busy.busy_until_ns()) gaps_.before(op, {busy.busy_until_ns(), start}, first);
    busy.add(op);
    last = &op;
  }
  if (part.when.end_ns > busy.busy_until_ns()) {
    gaps_.tail(last, {busy.busy_until_ns(), part.when.end_ns},
               {part.window.start_ns, first_recorded, next_op()});
  }
  out_.time += busy.time();
}

DevicePartition partition_device(const job::JobView& view, const job::DeviceWork& work,
                                 const PartitionOptions& options) {
  DevicePartition out;
  out.device = work.device;
  out.rank = work.rank;
  const job::Rank& rank = view.rank_of(work);
  out.span = rank.span ? *rank.span : span_of_ops(view.timeline());
  out.parts = job::recorded_parts(rank, out.span);
  for (const job::RecordedPart& part : out.parts) out.recorded_ns += part.when.duration_ns();
  DeviceSweep(view, work, options, out).run();
  return out;
}

}  // namespace

double DevicePartition::share(Cause cause) const {
  if (recorded_ns <= 0) return 0.0;
  return static_cast<double>(of(cause)) / static_cast<double>(recorded_ns);
}

std::array<double, kCauseCount> DevicePartition::shares() const {
  std::array<double, kCauseCount> all{};
  for (const Cause cause : kAllCauses) all[static_cast<std::size_t>(cause)] = share(cause);
  return all;
}

std::vector<DevicePartition> partition_devices(const job::JobView& job,
                                               const PartitionOptions& options) {
  std::vector<DevicePartition> partitions;
  for (const job::DeviceWork& work : job.devices()) {
    DevicePartition partition = partition_device(job, work, options);
    if (partition.recorded_ns > 0) partitions.push_back(std::move(partition));
  }
  return partitions;
}

namespace {

/// Whether it does a part of its rank's work that is worth a word: a device that adds up one number
/// now and then idles nearly always, and nobody waits for it.
bool does_work(const std::vector<DevicePartition>& partitions, const DevicePartition& partition) {
  constexpr double kLeast = 0.1;  // of what the busiest device of the rank computes
  std::int64_t most_ns = 0;
  for (const DevicePartition& other : partitions) {
    if (other.rank == partition.rank) most_ns = std::max(most_ns, other.of(Cause::kGpuCompute));
  }
  return static_cast<double>(partition.of(Cause::kGpuCompute)) >=
         kLeast * static_cast<double>(most_ns);
}

}  // namespace

std::size_t worst_device(const std::vector<DevicePartition>& partitions) {
  UNSTARVE_CHECK(!partitions.empty(), "there is no worst of no devices");
  std::optional<std::size_t> worst;
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    if (!does_work(partitions, partitions[i])) continue;
    const double computes = partitions[i].share(Cause::kGpuCompute);
    if (!worst || computes < partitions[*worst].share(Cause::kGpuCompute)) worst = i;
  }
  return worst.value_or(0);
}

PartitionedJob::PartitionedJob(const job::JobView& view, const PartitionOptions& options)
    : job(view), devices(partition_devices(view, options)), set_aside(view.set_aside()) {
  if (const auto little = too_little(job, devices)) {
    set_aside = little;
    devices.clear();
  }
  ranks.rows = rank_rows(job, devices);
  if (ranks.rows.size() < 2) ranks.rows.clear();
  ranks.straggler = find_straggler(ranks.rows);
}

const DevicePartition* PartitionedJob::worst() const {
  if (devices.empty()) return nullptr;
  return &devices[ranks.straggler ? ranks.straggler->row : worst_device(devices)];
}

std::size_t PartitionedJob::rank_index() const {
  if (const DevicePartition* const device = worst(); device != nullptr) return device->rank;
  return ranks.straggler ? ranks.straggler->row : 0;
}

}  // namespace unstarve::diagnose
