#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/mutex.h"

namespace unstarve {

/// What a queue has seen since it was made. The queue is the instrument: time blocked in push
/// means that the stage behind it is slow, time blocked in pop that the stage before it is.
struct QueueCounters {
  std::uint64_t pushed = 0;
  std::uint64_t popped = 0;
  std::int64_t push_blocked_ns = 0;  // summed over all producers
  std::int64_t pop_blocked_ns = 0;   // summed over all consumers
  std::size_t depth = 0;
  std::size_t depth_max = 0;
};

/// A first-in first-out queue of fixed capacity between threads; many producers, many consumers.
///
///   BoundedQueue<Sample> samples(64, clock);
///   samples.push(std::move(sample), stop);          // false: closed or stopped
///   while (auto sample = samples.pop(stop)) {...}   // empty: drained after close(), or stopped
///
/// Two endings: close() lets consumers drain what is in it; a stop request ends waits at once.
template <class T>
class BoundedQueue {
 public:
  BoundedQueue(std::size_t capacity, const Clock& clock) : slots_(capacity), clock_(clock) {
    UNSTARVE_CHECK(capacity > 0, "a queue needs room for one item");
  }
  BoundedQueue(const BoundedQueue&) = delete;
  BoundedQueue& operator=(const BoundedQueue&) = delete;

  /// Blocks while full. Returns false, with `item` dropped, once closed or stopped.
  bool push(T item, std::stop_token stop) UNSTARVE_EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      const auto ready = [this]() UNSTARVE_REQUIRES(mutex_) {
        return closed_ || counters_.depth < slots_.size();
      };
      if (!ready()) {
        const std::int64_t blocked_from_ns = clock_.now_ns();
        has_room_.wait(mutex_, stop, ready);
        counters_.push_blocked_ns += clock_.now_ns() - blocked_from_ns;
      }
      if (closed_ || stop.stop_requested()) return false;
      slots_[(first_ + counters_.depth) % slots_.size()].emplace(std::move(item));
      ++counters_.depth;
      ++counters_.pushed;
      if (counters_.depth > counters_.depth_max) counters_.depth_max = counters_.depth;
    }
    has_item_.notify_one();
    return true;
  }

  /// Blocks while empty. Returns nothing once stopped, or closed and drained.
  std::optional<T> pop(std::stop_token stop) UNSTARVE_EXCLUDES(mutex_) {
    std::optional<T> item;
    {
      MutexLock lock(mutex_);
      const auto ready = [this]()
                             UNSTARVE_REQUIRES(mutex_) { return closed_ || counters_.depth > 0; };
      if (!ready()) {
        const std::int64_t blocked_from_ns = clock_.now_ns();
        has_item_.wait(mutex_, stop, ready);
        counters_.pop_blocked_ns += clock_.now_ns() - blocked_from_ns;
      }
      if (counters_.depth == 0 || stop.stop_requested()) return std::nullopt;
      item.emplace(std::move(*slots_[first_]));
      slots_[first_].reset();
      first_ = (first_ + 1) % slots_.size();
      --counters_.depth;
      ++counters_.popped;
    }
    has_room_.notify_one();
    return item;
  }

  /// No more pushes; consumers drain what is left. Idempotent.
  void close() UNSTARVE_EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      closed_ = true;
    }
    has_item_.notify_all();
    has_room_.notify_all();
  }

  QueueCounters counters() const UNSTARVE_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return counters_;
  }

 private:
  mutable Mutex mutex_;
  CondVar has_item_;
  CondVar has_room_;
  std::vector<std::optional<T>> slots_ UNSTARVE_GUARDED_BY(mutex_);
  std::size_t first_ UNSTARVE_GUARDED_BY(mutex_) = 0;
  bool closed_ UNSTARVE_GUARDED_BY(mutex_) = false;
  QueueCounters counters_ UNSTARVE_GUARDED_BY(mutex_);
  const Clock& clock_;
};

}  // namespace unstarve
