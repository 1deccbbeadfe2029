#include "emulated/cupti/client_clock.h"

#include <time.h>

#include <cmath>

#include "emulated/process/gpu.h"

namespace unstarve::emulated {

namespace {

// Two readings closer together than this say nothing about how fast a clock ticks.
constexpr std::int64_t kBaselineNsMin = 100'000;

std::uint64_t wall_ns() {
  timespec time = {};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

void ClientClock::set_callback(cupti::ReadTimestamp read) {
  read_ = read;
  anchor();
}

void ClientClock::anchor() {
  first_ = pair();
  ticks_per_ns_ = 1;
}

std::uint64_t ClientClock::now() const { return read_ != nullptr ? read_() : wall_ns(); }

ClientClock::Pair ClientClock::pair() const {
  // The reading of theirs that two of ours enclose most tightly: between others we were
  // interrupted.
  Pair best;
  std::int64_t tightest_ns = INT64_MAX;
  for (int i = 0; i < 5; ++i) {
    const std::int64_t before = now_ns();
    const std::uint64_t theirs = now();
    const std::int64_t after = now_ns();
    if (after - before >= tightest_ns) continue;
    tightest_ns = after - before;
    best = {before + (after - before) / 2, theirs};
  }
  return best;
}

void ClientClock::update() {
  if (read_ == nullptr) {
    first_ = pair();  // it ticks as ours does, and may be set
    return;
  }
  while (now_ns() - first_.ours < kBaselineNsMin) {
  }
  const Pair last = pair();
  if (last.theirs < first_.theirs) return;
  ticks_per_ns_ = static_cast<double>(last.theirs - first_.theirs) /
                  static_cast<double>(last.ours - first_.ours);
}

std::uint64_t ClientClock::convert(std::uint64_t our_ns) const {
  if (our_ns == 0) return 0;  // "not known" in CUPTI's records
  const std::int64_t ns = static_cast<std::int64_t>(our_ns) - first_.ours;
  const auto ticks =
      static_cast<std::int64_t>(std::llround(static_cast<double>(ns) * ticks_per_ns_));
  return first_.theirs + static_cast<std::uint64_t>(ticks);
}

}  // namespace unstarve::emulated
