#pragma once

#include <string>
#include <vector>

#include "diagnose/partition/partition.h"

namespace unstarve::diagnose {

/// How the shares of the time moved: the span is cut into equal pieces, and of each part the share
/// of each piece is here, NaN where nothing of it was recorded. In every other they sum to 1.
struct PartitionOverTime {
  struct Part {
    std::string cause;  // a cause of the partition, or "own_work"
    std::vector<double> shares;
  };
  trace::Interval span;
  std::vector<double> recorded_ns;  // of each piece
  std::vector<Part> parts;          // those that took any time; none: not known
};

/// Of the device that the diagnosis speaks of; where none was recorded, how much of the training
/// steps waited for data. O(n) in what was recorded.
PartitionOverTime partition_over_time(const PartitionedJob& job);

}  // namespace unstarve::diagnose
