#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace unstarve::feed {

/// The bytes of one payload, wherever they lie.
class PayloadBytes {
 public:
  virtual ~PayloadBytes() = default;
  /// `size` bytes from `offset` of the payload on, in `buffer`, which keeps its memory from call to
  /// call, or in memory that stays. kCorruptData past the end.
  virtual Result<std::span<const std::byte>> read(std::uint64_t offset, std::size_t size,
                                                  std::vector<std::byte>& buffer) = 0;
};

}  // namespace unstarve::feed
