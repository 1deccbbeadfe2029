#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "emulated/profile/profile.h"

namespace unstarve::emulated {

/// One operation on the device, as far as the board notices it.
struct BoardOperation {
  enum class Kind : std::uint8_t { kKernel, kUpload, kDownload, kOther };
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  Kind kind = Kind::kKernel;
  double power_load = 0;  // of what the board draws beyond its idle power; 0..1
  double dram_ratio = 0;  // of the time, how long the memory controller is busy
  double bytes = 0;       // over the bus
};

/// What a ring's record (base/cupti_ring.h) says of the board; nothing for calls, waits and what is
/// damaged. A kernel draws the more, the more of the device's threads it fills.
std::optional<BoardOperation> board_operation(std::span<const std::byte> record,
                                              const Profile& profile);

}  // namespace unstarve::emulated
