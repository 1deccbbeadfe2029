#pragma once

#include <cstddef>

#include "diagnose/partition/partition.h"
#include "job/host_index.h"
#include "job/rank.h"

namespace unstarve::diagnose {

/// Gives the idle gaps of one device, in the order of time, to their causes.
class GapAttributor {
 public:
  /// Writes into `out.idle`, `out.gaps` and the idle causes of `out.ns`. All outlive this.
  GapAttributor(const job::HostIndex& host, const job::Rank& rank, const PartitionOptions& options,
                DevicePartition& out);

  /// A gap that ends because `op` starts. `first_recorded`: nothing ran on the device before it.
  void before(const trace::DeviceOp& op, trace::Interval gap, bool first_recorded);

  /// The gap after the last operation (nullptr when there was none).
  void tail(const trace::DeviceOp* last, trace::Interval gap);

 private:
  struct Answer {
    Cause cause;
    std::int64_t other_from_ns;  // from here to the gap's end it is `other`
  };

  Answer classify(const trace::DeviceOp& op, trace::Interval gap, bool first_recorded) const;
  bool host_was_blocked(const trace::HostCall& launch, std::int64_t gap_start_ns) const;
  void give(trace::Interval gap, Answer answer);
  void give_rest(trace::Interval piece, Answer answer);
  void add(trace::Interval when, Cause cause);

  const job::HostIndex& host_;
  const job::Rank& rank_;
  const PartitionOptions& options_;
  DevicePartition& out_;
  std::size_t next_wait_ = 0;  // first wait that may still reach a gap
};

}  // namespace unstarve::diagnose
