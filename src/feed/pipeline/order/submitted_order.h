#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "feed/pipeline/order/batch_order.h"

namespace unstarve::feed {

/// An order that comes from outside, batch by batch, while the epoch runs: any sizes, any indices,
/// repeated ones too, without end if need be. An index that comes again in the same epoch gets
/// other random draws: they depend on (seed, epoch, index, how often it was there before).
class SubmittedOrder final : public BatchOrder {
 public:
  SubmittedOrder(std::uint32_t samples, const EpochPosition& start);

  bool ready() const override { return !waiting_.empty(); }
  bool ended() const override { return finished_ && waiting_.empty(); }
  void take(PlannedBatch& batch) override;
  std::optional<std::uint32_t> later(std::uint64_t nth) const override;
  /// kInvalidArgument: an empty batch, an index that the data set lacks, or after finish().
  Status submit(std::span<const std::uint64_t> indices) override;
  /// Any number of indices, at some nanoseconds each.
  Status skip(std::span<const std::uint64_t> indices) override;
  Status finish() override;
  std::uint64_t waiting() const override { return waiting_.size(); }

 private:
  Status check(std::span<const std::uint64_t> indices) const;
  std::uint32_t count_repeat(std::uint64_t index);

  const std::uint32_t samples_;
  EpochPosition next_;
  std::deque<std::vector<PlannedSample>> waiting_;
  std::vector<std::vector<PlannedSample>> spare_;  // memory of batches that were taken
  std::vector<std::uint16_t> seen_;                // by index; wraps after 65,536 times
  bool finished_ = false;
};

}  // namespace unstarve::feed
