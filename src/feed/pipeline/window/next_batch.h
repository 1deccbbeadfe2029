#pragma once

#include <cstdint>
#include <optional>

#include "base/error.h"
#include "feed/batch/host_batch.h"

namespace unstarve::feed {

/// What a consumer that asked for a batch gets.
enum class NextState {
  kBatch,    // a batch is handed over
  kEnd,      // the epoch is over
  kTimeout,  // nothing yet: ask again
};

/// A row of a batch that the loading threads could not fill.
struct FailedRow {
  std::uint64_t batch = 0;  // of those submitted, from 0
  int row = 0;
  ErrorCode code = ErrorCode::kCorruptData;
};

struct NextBatch {
  NextState state = NextState::kEnd;
  std::optional<HostBatch> batch;  // only with kBatch
};

}  // namespace unstarve::feed
