#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/mutex.h"
#include "feed/pack/sample_packer.h"

namespace unstarve::feed {

/// Hands out the samples [first, end) to packing threads and takes them back in order. At most
/// `slots` are under way, and, once those hold `bytes_max` bytes, only one more per thread.
/// Thread rule: claim() and finish() from any thread, next() and release() from one.
class PackWindow {
 public:
  PackWindow(std::uint64_t first, std::uint64_t end, std::size_t slots, std::uint64_t bytes_max);

  struct Claim {
    std::uint64_t index = 0;
    PackedSample* packed = nullptr;  // the claimer's until finish()
  };
  /// Blocks while the window is full. Nothing when all are claimed, or stopped.
  std::optional<Claim> claim(const std::stop_token& stop) UNSTARVE_EXCLUDES(mutex_);
  void finish(const Claim& claim) UNSTARVE_EXCLUDES(mutex_);

  /// The next sample in order; nothing when there are no more.
  PackedSample* next() UNSTARVE_EXCLUDES(mutex_);
  /// Gives back what next() returned.
  void release() UNSTARVE_EXCLUDES(mutex_);

 private:
  struct Slot {
    PackedSample packed;
    bool ready = false;
  };
  Slot& slot(std::uint64_t index) UNSTARVE_REQUIRES(mutex_) {
    return slots_[index % slots_.size()];
  }

  const std::uint64_t end_;
  const std::uint64_t bytes_max_;
  Mutex mutex_;
  CondVar has_room_;
  CondVar has_ready_;
  std::vector<Slot> slots_ UNSTARVE_GUARDED_BY(mutex_);
  std::uint64_t claimed_ UNSTARVE_GUARDED_BY(mutex_);    // the next to be claimed
  std::uint64_t taken_ UNSTARVE_GUARDED_BY(mutex_);      // the next for next()
  std::uint64_t bytes_ UNSTARVE_GUARDED_BY(mutex_) = 0;  // of finished samples not yet released
};

}  // namespace unstarve::feed
