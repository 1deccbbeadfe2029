#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/mutex.h"

namespace unstarve::recording {

/// The memory that CUPTI writes its records into. It is asked for on the job's launch path, so it
/// is there beforehand; where much is under way at once there is more, up to a bound, and beyond
/// that a buffer whose records are thrown away: CUPTI before CUDA 12.9 crashes on none at all.
/// Thread rule: any thread; never calls out.
class BufferPool {
 public:
  static constexpr std::size_t kBufferBytes = 1 << 20;  // CUPTI's documentation: 1 to 10 MiB
  static constexpr std::size_t kReady = 4;              // some 15,000 kernels with their launches
  static constexpr std::size_t kMost = 32;

  BufferPool();

  struct Filled {
    std::uint8_t* bytes = nullptr;  // nullptr: no more
    std::size_t valid = 0;
  };
  /// Never nullptr. How long it is: bytes_of().
  std::uint8_t* take() UNSTARVE_EXCLUDES(mutex_);
  static std::size_t bytes_of(const std::uint8_t* taken);
  /// What CUPTI is done with. A buffer that is not ours, somebody else's profiler's, is left alone.
  void filled(std::uint8_t* buffer, std::size_t valid) UNSTARVE_EXCLUDES(mutex_);
  /// The oldest that CUPTI is done with; to be given back by free().
  Filled next_filled() UNSTARVE_EXCLUDES(mutex_);
  void free(std::uint8_t* buffer) UNSTARVE_EXCLUDES(mutex_);

  /// Buffers that CUPTI holds.
  std::size_t outstanding() UNSTARVE_EXCLUDES(mutex_);
  /// Records that went into the buffer to be thrown away, by their usual size; then 0 again.
  std::uint64_t take_thrown_away() { return thrown_away_.exchange(0); }

 private:
  enum class State { kAbsent, kFree, kTaken, kFilled };
  struct Slot {
    std::uint8_t* bytes = nullptr;
    State state = State::kAbsent;
    std::size_t valid = 0;
    std::uint64_t order = 0;  // in which it was filled
  };
  bool make(Slot& slot) UNSTARVE_REQUIRES(mutex_);

  Mutex mutex_;
  std::array<Slot, kMost> slots_ UNSTARVE_GUARDED_BY(mutex_);
  std::uint64_t filled_count_ UNSTARVE_GUARDED_BY(mutex_) = 0;
  std::atomic<std::uint64_t> thrown_away_{0};
};

}  // namespace unstarve::recording
