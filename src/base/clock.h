#pragma once

#include <atomic>
#include <cstdint>
#include <stop_token>

#include "base/mutex.h"

namespace unstarve {

/// The one clock of a recording: CLOCK_MONOTONIC in nanoseconds, the same that Python's
/// time.monotonic_ns() reads. Passed in by constructor, so that tests turn it by hand.
/// Thread rule: every implementation may be read from any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::int64_t now_ns() const = 0;
  /// Returns at `deadline_ns` or soon after it. A manual clock advances itself instead of sleeping.
  virtual void sleep_until_ns(std::int64_t deadline_ns) = 0;
  /// As above, but a request to stop ends it; then it is false. Allocates nothing.
  virtual bool sleep_until_ns(std::int64_t deadline_ns, const std::stop_token& stop) = 0;
};

/// The real one.
class SteadyClock final : public Clock {
 public:
  std::int64_t now_ns() const override;
  void sleep_until_ns(std::int64_t deadline_ns) override;
  bool sleep_until_ns(std::int64_t deadline_ns, const std::stop_token& stop) override;

 private:
  // Of all that sleep; nobody notifies them but who stops them.
  Mutex sleeping_;
  CondVar stopped_;
};

/// For tests: time moves only when somebody sleeps or calls advance_ns().
class ManualClock final : public Clock {
 public:
  explicit ManualClock(std::int64_t start_ns = 0) : now_ns_(start_ns) {}
  std::int64_t now_ns() const override { return now_ns_.load(); }
  void sleep_until_ns(std::int64_t deadline_ns) override;
  bool sleep_until_ns(std::int64_t deadline_ns, const std::stop_token& stop) override;
  void advance_ns(std::int64_t by_ns) { now_ns_ += by_ns; }

 private:
  std::atomic<std::int64_t> now_ns_;
};

/// Wall-clock time (CLOCK_REALTIME, ns since 1970) for run names and people; never for durations.
std::int64_t wall_time_ns();

/// CPU time of the calling thread, user + system, ns.
std::int64_t thread_cpu_time_ns();

}  // namespace unstarve
