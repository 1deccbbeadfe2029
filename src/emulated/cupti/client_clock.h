#pragma once

#include <cstdint>

#include "base/cupti_abi.h"

namespace unstarve::emulated {

/// Turns our times (ns of CLOCK_MONOTONIC) into the client's: those of the callback that it
/// registered, else the wall clock's, ns since 1970, which is what CUPTI stamps on Linux.
/// The callback's clock may tick in any unit: times between two readings of both clocks are
/// interpolated, so only past times are exact.
/// Thread rule: one thread at a time; the owner locks.
class ClientClock {
 public:
  ClientClock() { anchor(); }
  /// nullptr: the wall clock.
  void set_callback(cupti::ReadTimestamp read);

  /// Reads both clocks; times up to now can be converted then.
  void update();
  std::uint64_t convert(std::uint64_t our_ns) const;
  /// The client's time now.
  std::uint64_t now() const;

 private:
  struct Pair {
    std::int64_t ours = 0;
    std::uint64_t theirs = 0;
  };
  Pair pair() const;
  void anchor();

  cupti::ReadTimestamp read_ = nullptr;
  Pair first_;
  double ticks_per_ns_ = 1;
};

}  // namespace unstarve::emulated
