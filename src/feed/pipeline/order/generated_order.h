#pragma once

#include <cstdint>
#include <optional>

#include "feed/data/loader_options.h"
#include "feed/pipeline/order/batch_order.h"
#include "feed/pipeline/order/index_permutation.h"

namespace unstarve::feed {

/// An epoch's order made from (seed, epoch): position p of it belongs to rank p mod world_size, as
/// in torch's DistributedSampler, so that all ranks together go through it from front to back. What
/// they have consumed is therefore one number, and any other number of ranks, with any other batch
/// size, can go on from there with exactly the samples that are left.
class GeneratedOrder final : public BatchOrder {
 public:
  struct Settings {
    std::uint32_t samples = 0;  // in the data set
    std::uint64_t seed = 0;
    bool shuffle = true;
    std::uint64_t batch_size = 1;
    bool drop_last = false;
    std::uint64_t rank = 0;
    std::uint64_t world_size = 1;
    RankRemainder remainder = RankRemainder::kPad;
    bool follow_on = false;  // after an epoch comes the next, without end
    EpochPosition start;
  };
  static Settings settings_of(const LoaderOptions& options, std::uint64_t samples);
  explicit GeneratedOrder(const Settings& settings);

  /// Batches that each rank gets from `consumed` on; the same on all ranks.
  static std::uint64_t batches_left(const Settings& settings, std::uint64_t consumed);

  bool ready() const override { return !ended(); }
  bool ended() const override { return ended_; }
  void take(PlannedBatch& batch) override;
  std::optional<std::uint32_t> later(std::uint64_t nth) const override;
  Status submit(std::span<const std::uint64_t> indices) override;
  Status skip(std::span<const std::uint64_t> indices) override;
  Status finish() override;
  std::uint64_t waiting() const override { return 0; }

 private:
  void begin(const EpochPosition& position);
  std::uint32_t index_at(std::uint64_t position) const;

  const Settings settings_;
  std::optional<IndexPermutation> permutation_;  // only when shuffled
  EpochPosition next_;                           // where the next batch begins
  std::uint64_t rank_samples_ = 0;               // of this rank, from the begin on
  std::uint64_t left_ = 0;                       // batches of this epoch
  bool ended_ = false;
};

}  // namespace unstarve::feed
