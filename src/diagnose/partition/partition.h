#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "diagnose/partition/cause.h"
#include "diagnose/ranks/rank_comparison.h"
#include "job/device_time.h"
#include "job/job_view.h"
#include "job/rank/recorded.h"
#include "job/set_aside.h"
#include "trace/timeline/timeline.h"

namespace unstarve::diagnose {

/// Where "short" and "long" begin in the definitions of docs/partition.md.
struct PartitionOptions {
  /// A gap before work that was launched in time is `kernel_wait` up to here, `other` beyond.
  std::int64_t kernel_wait_max_ns = 50'000;
  /// An operation that starts this soon after its launch call began found nothing queued before
  /// it: this is what the way to an idle device takes.
  std::int64_t launch_way_max_ns = 20'000;
  /// Work that starts this long after its launch returned was held up by something not recorded.
  std::int64_t late_start_min_ns = 100'000;
  /// After waiting for the device, host work of this length and of more than two steps of the
  /// device's work is no part of the wait: without it the device would run dry as well.
  std::int64_t host_work_min_ns = 1'000'000;
  /// A first operation that waits this long for its stream, or a host that waits this long before
  /// it, waits for work launched before the recording began.
  std::int64_t head_wait_min_ns = 1'000'000;
};

/// A piece of an idle gap, given to one cause.
struct IdleSlice {
  trace::Interval when;
  Cause cause = Cause::kOther;
};

/// How one device spent the span, as far as it was recorded: every nanosecond of that is given to
/// exactly one cause.
struct DevicePartition {
  std::int32_t device = 0;
  std::size_t rank = 0;  // whose device it is: an index into the view's ranks
  trace::Interval span;
  std::vector<job::RecordedPart> parts;        // of the span; all of it where nothing was left out
  std::int64_t recorded_ns = 0;                // their length
  std::array<std::int64_t, kCauseCount> ns{};  // by Cause; sums to recorded_ns
  std::int64_t gaps = 0;
  std::int64_t ops = 0;                 // in the span
  std::int64_t ops_without_launch = 0;  // of those
  // Of `other`: before the first operation that was recorded and after the last, where a recording
  // that began late or ended early does not hold what the device did.
  std::int64_t edge_other_ns = 0;
  // Of `gpu_compute`: at such edges, with work that is not recorded but must have been there.
  std::int64_t edge_busy_ns = 0;
  job::DeviceTime time;         // what ran, of what is recorded
  std::vector<IdleSlice> idle;  // by start; pieces of one gap lie next to each other

  std::int64_t of(Cause cause) const { return ns[static_cast<std::size_t>(cause)]; }
  double share(Cause cause) const;                 // of the recorded time
  std::array<double, kCauseCount> shares() const;  // the same of all, by Cause
};

/// The partition of every device that ran something, by device index. Empty when none did, or
/// when the span has no length. O(n log n).
std::vector<DevicePartition> partition_devices(const job::JobView& job,
                                               const PartitionOptions& options);

/// Index of the device with the largest share that is not gpu_compute, among those that do a tenth
/// at least of what the busiest one of their rank does; the lowest on a tie. `partitions` is not
/// empty.
std::size_t worst_device(const std::vector<DevicePartition>& partitions);

/// Whether there is too little to judge a device by: no steps, and either a few operations, between
/// which there are hardly any gaps, or all of them in a moment of what was recorded of the host.
std::optional<job::SetAside> too_little(const job::JobView& job,
                                        const std::vector<DevicePartition>& partitions);

/// A job whose devices' time is given to causes: what a diagnosis begins with. The view outlives
/// it.
struct PartitionedJob {
  explicit PartitionedJob(const job::JobView& view, const PartitionOptions& options = {});

  /// The device that a diagnosis speaks of: that of the rank which the others wait for, else the
  /// worst; nullptr when none ran anything.
  const DevicePartition* worst() const;
  /// The rank that it speaks of: that device's. An index into job.ranks().
  std::size_t rank_index() const;
  const job::Rank& rank() const { return job.ranks()[rank_index()]; }

  const job::JobView& job;
  std::vector<DevicePartition> devices;
  std::optional<job::SetAside> set_aside;  // what ran, and is no device's partition
  RankComparison ranks;  // a row for each of the devices, or, where there are none, of job.ranks()
};

}  // namespace unstarve::diagnose
