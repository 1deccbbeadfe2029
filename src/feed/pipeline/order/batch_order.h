#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"

namespace unstarve::feed {

/// Where a consumer is: what the next batch begins with.
struct EpochPosition {
  std::uint32_t epoch = 0;
  std::uint64_t consumed = 0;  // samples of the epoch's order that all ranks have taken
  std::uint64_t batches = 0;   // batches of the epoch that this rank has taken
};

/// One place of a batch.
struct PlannedSample {
  std::uint32_t index = 0;   // in the data set
  std::uint32_t repeat = 0;  // how often the epoch has had this index before
};

/// A batch that is to be loaded.
struct PlannedBatch {
  std::vector<PlannedSample> samples;  // at least one
  std::uint32_t epoch = 0;
  std::uint64_t number = 0;  // in the epoch, on this rank
  bool last = false;         // of its epoch; false where that is not known yet
  EpochPosition after;       // once it is delivered
};

/// Says which samples make up the batches of one rank, one batch after the other.
/// Thread rule: none; whoever owns it locks.
class BatchOrder {
 public:
  virtual ~BatchOrder() = default;
  /// There is a batch to take now.
  virtual bool ready() const = 0;
  /// No batch will come any more.
  virtual bool ended() const = 0;
  /// Takes the next batch; only when ready(). `batch` keeps its memory from call to call. Where
  /// there is no memory it throws, and has taken nothing.
  virtual void take(PlannedBatch& batch) = 0;
  /// The index of the `nth` sample after those taken, where that is known; a guess that may be
  /// wrong at the end of an epoch.
  virtual std::optional<std::uint32_t> later(std::uint64_t nth) const = 0;

  /// Adds a batch at the end. kNotSupported where the order is generated.
  virtual Status submit(std::span<const std::uint64_t> indices) = 0;
  /// Counts samples, of any number of batches, as taken and delivered long ago.
  virtual Status skip(std::span<const std::uint64_t> indices) = 0;
  virtual Status finish() = 0;
  /// Batches submitted and not taken.
  virtual std::uint64_t waiting() const = 0;
};

}  // namespace unstarve::feed
