#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

namespace unstarve::device::emulated {

/// An in-order stream as arithmetic: an operation starts when the one before it has ended and it
/// has been launched, whichever is later. No thread runs it, so no scheduling noise can touch it.
/// Thread rule: the owner locks.
class StreamTimeline {
 public:
  struct Slot {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
  };

  /// Operations that may be launched and not ended; a launch beyond them blocks the host, as the
  /// queue of a real device does (1024 entries).
  static constexpr std::size_t kQueueCapacity = 1024;

  Slot enqueue(std::int64_t launched_ns, std::int64_t duration_ns) {
    const std::int64_t start_ns = std::max(tail_ns_, launched_ns);
    tail_ns_ = start_ns + duration_ns;
    pending_ends_.push_back(tail_ns_);
    if (pending_ends_.size() > kQueueCapacity) pending_ends_.pop_front();
    return {start_ns, tail_ns_};
  }

  /// Nothing launched from now on starts before `ns` (an event of another stream).
  void wait_until(std::int64_t ns) { tail_ns_ = std::max(tail_ns_, ns); }

  /// When the last operation ends.
  std::int64_t tail_ns() const { return tail_ns_; }

  /// From when on another operation may be launched without blocking.
  std::int64_t room_at_ns() const {
    return pending_ends_.size() < kQueueCapacity ? INT64_MIN : pending_ends_.front();
  }

 private:
  std::int64_t tail_ns_ = INT64_MIN;
  std::deque<std::int64_t> pending_ends_;  // the last kQueueCapacity ends
};

}  // namespace unstarve::device::emulated
