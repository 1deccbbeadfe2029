#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "diagnose/partition/cause.h"
#include "diagnose/partition/host_index.h"
#include "diagnose/partition/job_threads.h"
#include "trace/timeline.h"

namespace unstarve::diagnose {

/// Where "short" and "long" begin in the definitions of docs/partition.md.
struct PartitionOptions {
  /// Leaves the first step out as warm-up when there is another: for live runs.
  bool leave_out_first_step = false;
  /// A gap before work that was launched in time is `kernel_wait` up to here, `other` beyond.
  std::int64_t kernel_wait_max_ns = 50'000;
  /// Work that starts this long after its launch returned was held up by something not recorded.
  std::int64_t late_start_min_ns = 100'000;
  /// A first copy that waits this long for its stream waits for work from before the recording.
  std::int64_t head_wait_min_ns = 1'000'000;
};

/// A piece of an idle gap, given to one cause.
struct IdleSlice {
  trace::Interval when;
  Cause cause = Cause::kOther;
};

/// How one device spent the span: every nanosecond is given to exactly one cause.
struct DevicePartition {
  std::int32_t device = 0;
  trace::Interval span;
  std::array<std::int64_t, kCauseCount> ns{};  // by Cause; sums to the span
  std::int64_t busy_ns = 0;                    // union of everything that ran
  std::int64_t gaps = 0;
  std::int64_t ops = 0;                 // in the span
  std::int64_t ops_without_launch = 0;  // of those
  JobThreads job;                       // whose steps, waits and blocking calls it is about
  std::vector<IdleSlice> idle;          // by start; pieces of one gap lie next to each other

  std::int64_t of(Cause cause) const { return ns[static_cast<std::size_t>(cause)]; }
  double share(Cause cause) const;
};

/// The partition of every device that ran something, by device index. Empty when none did, or
/// when the span has no length. The Timeline is sorted by start; `index` is of it. O(n log n).
std::vector<DevicePartition> partition_devices(const trace::Timeline& timeline,
                                               const HostIndex& index,
                                               const PartitionOptions& options);

/// Index of the device with the largest share that is not gpu_compute; the lowest on a tie.
/// `partitions` is not empty.
std::size_t worst_device(const std::vector<DevicePartition>& partitions);

}  // namespace unstarve::diagnose
