#include "base/clock.h"

#include <cerrno>
#include <chrono>
#include <ctime>

#include "base/units.h"

namespace unstarve {

namespace {

std::int64_t read_clock_ns(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);
  return static_cast<std::int64_t>(now.tv_sec) * kSecondNs + now.tv_nsec;
}

}  // namespace

std::int64_t SteadyClock::now_ns() const { return read_clock_ns(CLOCK_MONOTONIC); }

void SteadyClock::sleep_until_ns(std::int64_t deadline_ns) {
  timespec deadline{};
  deadline.tv_sec = deadline_ns / kSecondNs;
  deadline.tv_nsec = deadline_ns % kSecondNs;
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nullptr) == EINTR) {
  }
}

bool SteadyClock::sleep_until_ns(std::int64_t deadline_ns, const std::stop_token& stop) {
  // libstdc++'s steady clock is CLOCK_MONOTONIC.
  const std::chrono::steady_clock::time_point deadline{std::chrono::nanoseconds{deadline_ns}};
  const MutexLock lock(sleeping_);
  stopped_.wait_until(sleeping_, stop, deadline, [] { return false; });
  return !stop.stop_requested();
}

void ManualClock::sleep_until_ns(std::int64_t deadline_ns) {
  std::int64_t now = now_ns_.load();
  while (now < deadline_ns && !now_ns_.compare_exchange_weak(now, deadline_ns)) {
  }
}

bool ManualClock::sleep_until_ns(std::int64_t deadline_ns, const std::stop_token& stop) {
  if (stop.stop_requested()) return false;
  sleep_until_ns(deadline_ns);
  return true;
}

std::int64_t wall_time_ns() { return read_clock_ns(CLOCK_REALTIME); }

std::int64_t thread_cpu_time_ns() { return read_clock_ns(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace unstarve
