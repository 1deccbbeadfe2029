#include "emulated/process/waiting.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

namespace unstarve::emulated {

namespace {

// How long a sleeping wait sleeps at the least: an interrupt and a wake-up take as long.
constexpr std::int64_t kShortestSleepNs = 20'000;
// How long one that does not sleep looks away: others want the lock that it looks under.
constexpr std::int64_t kShortestSpinNs = 500;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

void sleep_until(std::int64_t until_ns) {
  timespec until{};
  until.tv_sec = static_cast<time_t>(until_ns / 1'000'000'000);
  until.tv_nsec = static_cast<long>(until_ns % 1'000'000'000);
  ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
}

}  // namespace

std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

std::int64_t clock_read_ns() {
  static const std::int64_t measured_ns = [] {
    // The least of several means: an interrupt makes one larger, and each call too cheap for the
    // life of the process.
    constexpr int kMeans = 8;
    constexpr int kReads = 64;
    std::int64_t least_ns = std::numeric_limits<std::int64_t>::max();
    for (int mean = 0; mean < kMeans; ++mean) {
      const std::int64_t started_ns = now_ns();
      for (int i = 1; i < kReads; ++i) static_cast<void>(now_ns());
      least_ns = std::min(least_ns, (now_ns() - started_ns) / kReads);
    }
    return least_ns;
  }();
  return measured_ns;
}

void spin_until(std::int64_t until_ns) {
  while (now_ns() < until_ns) relax();
}

void pass_time(std::int64_t until_ns, WaitRule rule) {
  if (rule == WaitRule::kBlock) {
    return sleep_until(std::max(until_ns, now_ns() + kShortestSleepNs));
  }
  until_ns = std::max(until_ns, now_ns() + kShortestSpinNs);
  do {
    if (rule == WaitRule::kYield) {
      ::sched_yield();
    } else {
      relax();
    }
  } while (now_ns() < until_ns);
}

WaitRule rule_for(WaitRule chosen, int contexts) {
  if (chosen != WaitRule::kAuto) return chosen;
  static const long processors = ::sysconf(_SC_NPROCESSORS_ONLN);
  return contexts <= processors ? WaitRule::kSpin : WaitRule::kYield;
}

}  // namespace unstarve::emulated
