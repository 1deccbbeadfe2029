#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "feed/pipeline/order/batch_order.h"

namespace unstarve::feed {

/// Where a loader's consumer is, in a few hundred bytes: enough to go on with exactly the samples
/// that are left, each with identical pixels, on any number of ranks and threads and with any batch
/// size. It is the same on all ranks that have taken as many batches.
struct LoaderState {
  enum class Order { kShuffled, kSequential, kSubmitted };
  std::uint64_t seed = 0;
  Order order = Order::kShuffled;
  EpochPosition position;  // at the end of an epoch: the begin of the next
  // The data set that it belongs to: see SampleSource.
  std::uint64_t samples = 0;
  std::uint64_t fingerprint = 0;
  std::vector<std::uint32_t> bad;  // samples that are not tried again, sorted; the first thousand
};

/// One line of JSON:
///   {"format": "unstarve.loader_state/1", "seed": 0, "order": "shuffled", "epoch": 3,
///    "consumed": 81920, "batches": 320, "samples": 1281167, "fingerprint": "9f0c...", "bad":
///    "7,+12"}
/// `bad` lists the first index and then the steps to the next ones.
std::string to_json(const LoaderState& state);
/// kCorruptData for what is not such a state, kNotSupported for another version.
Result<LoaderState> parse_loader_state(std::string_view json);

/// Whether a loader whose own state is `own` can go on from `saved`: kInvalidArgument with what
/// differs. An order that was submitted goes with any.
Status check_restorable(const LoaderState& saved, const LoaderState& own);

}  // namespace unstarve::feed
