#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "feed/pipeline/loader.h"

namespace unstarve::feed::test {

/// Mixes all bytes of a batch into `hash`.
inline std::uint64_t hash_of(const HostBatch& batch, std::uint64_t hash) {
  const auto mix = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x100000001B3ULL; };
  const std::size_t bytes = batch.shape().image_bytes() * static_cast<std::size_t>(batch.count);
  for (std::size_t i = 0; i < bytes; ++i) mix(batch.image(0)[i]);
  for (int i = 0; i < batch.count; ++i) mix(static_cast<std::uint64_t>(batch.labels()[i]));
  return hash;
}

struct EpochResult {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  std::vector<int> counts;     // images in each batch
  std::optional<Error> error;  // what ended the epoch early
};

/// Runs one epoch to its end or its error.
inline EpochResult run_epoch(Loader& loader, std::uint32_t epoch) {
  EpochResult result;
  if (const Status status = loader.begin_epoch(epoch); !status) {
    result.error = status.error();
    return result;
  }
  for (;;) {
    Result<NextBatch> next = loader.next(std::chrono::minutes(1));
    if (!next) {
      result.error = next.error();
      return result;
    }
    if (next->state == NextState::kEnd) return result;
    if (next->state == NextState::kTimeout) {
      result.error = Error{ErrorCode::kTimeout, "the loader hangs", 0};
      return result;
    }
    result.hash = hash_of(*next->batch, result.hash);
    result.counts.push_back(next->batch->count);
  }
}

}  // namespace unstarve::feed::test
