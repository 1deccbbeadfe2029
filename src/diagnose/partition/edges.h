#pragma once

#include <cstdint>
#include <vector>

#include "diagnose/partition/partition.h"
#include "job/job_view.h"

namespace unstarve::diagnose {

/// What one device did where a recording begins and where it ends, with work that it holds no
/// record of: work launched before it began, and work that had not ended when it ended. The calls
/// of the host tell (docs/partition.md, "Edges"). All that it is made from outlives it.
class RecordingEdges {
 public:
  RecordingEdges(const job::JobView& view, const job::DeviceWork& work,
                 const PartitionOptions& options);

  /// Until when, from the gap's start on, the device was busy with work launched before the
  /// recording began; the gap's start where nothing says so. `first` is the operation that ends the
  /// gap, the first that was recorded; nullptr: none was.
  std::int64_t busy_until(const trace::DeviceOp* first, const trace::Interval& gap) const;

  /// From when on, until the gap's end, it was busy with work whose launch is recorded and whose
  /// end is not; the gap's end where nothing says so. `last` is the last operation before the gap,
  /// nullptr: there was none in this part of the span.
  std::int64_t busy_from(const trace::DeviceOp* last, const trace::Interval& gap,
                         std::int64_t recording_start_ns) const;

  /// Whether a queue filled all of the gap, in a recording that began at `recording_start_ns` and
  /// in which nothing has run of what it holds a record of: a launch in it is so long ago that its
  /// operation would have ended, had it begun at once.
  bool is_behind_queue(const trace::Interval& gap, std::int64_t recording_start_ns) const;

 private:
  bool launches_here(const trace::HostCall& call) const;
  bool belongs_to_process(const trace::HostCall& call) const;

  const trace::Timeline& timeline_;
  const job::HostIndex& host_;
  const PartitionOptions& options_;
  std::vector<job::ThreadKey> launching_;  // threads that launch this device's work; sorted
  std::vector<job::ThreadKey> waiting_;    // those, and the training threads
  std::int64_t longest_way_ns_ = 0;        // from a launch to the end of its operation
  std::int64_t longest_ns_ = 0;            // of an operation
};

}  // namespace unstarve::diagnose
