#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "diagnose/partition/edges.h"
#include "diagnose/partition/partition.h"
#include "job/job_view.h"

namespace unstarve::diagnose {

/// Gives the idle gaps of one device, in the order of time, to their causes.
class GapAttributor {
 public:
  /// Writes into `out.idle`, `out.gaps` and the idle causes of `out.ns`. All outlive this.
  GapAttributor(const job::JobView& view, const job::DeviceWork& work,
                const PartitionOptions& options, DevicePartition& out);

  /// A gap that ends because `op` starts. `first_recorded`: no operation before it is recorded
  /// since the recording began.
  void before(const trace::DeviceOp& op, trace::Interval gap, bool first_recorded);

  /// The recording in which a tail lies.
  struct Recording {
    std::int64_t start_ns = 0;
    bool nothing_yet = false;               // no operation was recorded since then
    const trace::DeviceOp* next = nullptr;  // the first behind the gap, if any
  };
  /// The gap after the last operation, nullptr when there was none in this part of the span.
  void tail(const trace::DeviceOp* last, trace::Interval gap, const Recording& recording);

 private:
  struct Answer {
    Cause cause;
    std::int64_t other_from_ns;        // from here to the gap's end it is `other`
    std::int64_t launch_from_ns = -1;  // from here to there it is `launch`; -1: nowhere
  };

  Answer classify(const trace::DeviceOp& op, trace::Interval gap) const;
  /// Where the host was blocked in the gap after `last`: by start, and may overlap.
  std::vector<trace::Interval> blocked_in(const trace::DeviceOp* last, trace::Interval gap) const;
  std::int64_t first_busy_until(const trace::DeviceOp* next, trace::Interval gap) const;
  /// When the host ceased to be blocked, which it was at the gap's start; nothing: it was not.
  std::optional<std::int64_t> host_was_blocked(const trace::HostCall& launch,
                                               std::int64_t gap_start_ns) const;
  /// Whether what the host did in `piece`, but for waiting for the loader, is more than any device
  /// had hidden.
  bool is_host_work(trace::Interval piece) const;
  void give(trace::Interval gap, Answer answer);
  void give_rest(trace::Interval piece, Answer answer);
  void give_unoccupied(trace::Interval piece, Answer answer);
  void add(trace::Interval when, Cause cause);

  const job::HostIndex& host_;
  const job::Rank& rank_;
  const PartitionOptions& options_;
  const RecordingEdges edges_;
  const std::int64_t hidden_ns_;  // by the device's work: what the host may do at a stretch
  DevicePartition& out_;
  std::size_t next_wait_ = 0;      // first wait that may still reach a gap
  std::size_t next_occupied_ = 0;  // the same of the rank's host work
};

}  // namespace unstarve::diagnose
