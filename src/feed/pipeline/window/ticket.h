#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "feed/pipeline/order/batch_order.h"

namespace unstarve::feed {

/// One sample to load: where it comes from and where it goes.
struct Ticket {
  PlannedSample sample;
  std::uint32_t epoch = 0;
  std::uint64_t batch = 0;  // of the window
  int row = 0;              // in the batch
  std::uint8_t* image = nullptr;
  std::int64_t* label = nullptr;
  std::optional<std::uint32_t> later;  // the index that comes kReadAhead tickets after this one
};

/// How far ahead samples are announced: what one or two threads gain most from, and few enough to
/// be no burden on memory (docs/decisions/0007-sources.md).
constexpr std::size_t kReadAhead = 16;

}  // namespace unstarve::feed
