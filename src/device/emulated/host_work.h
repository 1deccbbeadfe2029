#pragma once

#include <cstdint>

#include "base/clock.h"

namespace unstarve::device::emulated {

/// What a driver call costs the thread that makes it. Passed in, so that tests spend no real time.
class HostWork {
 public:
  virtual ~HostWork() = default;
  virtual void spend_ns(std::int64_t cpu_ns) = 0;
};

/// Spins until the calling thread has used that much CPU time, as a real driver call would: on a
/// machine that is too busy it takes longer, and it takes CPU away from others.
class BusyHostWork final : public HostWork {
 public:
  void spend_ns(std::int64_t cpu_ns) override {
    const std::int64_t until_ns = thread_cpu_time_ns() + cpu_ns;
    while (thread_cpu_time_ns() < until_ns) {
    }
  }
};

/// Lets the given clock pass instead; for tests with a ManualClock.
class ClockHostWork final : public HostWork {
 public:
  explicit ClockHostWork(Clock& clock) : clock_(clock) {}
  void spend_ns(std::int64_t cpu_ns) override { clock_.sleep_until_ns(clock_.now_ns() + cpu_ns); }

 private:
  Clock& clock_;
};

}  // namespace unstarve::device::emulated
