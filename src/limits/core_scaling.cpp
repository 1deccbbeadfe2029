#include "limits/core_scaling.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

#include "base/clock.h"

namespace unstarve::limits {

namespace {

constexpr int kRepeats = 3;
constexpr int kThreadsMax = 8;
constexpr std::int64_t kTurnNs = 50'000'000;
constexpr std::size_t kTableEntries = 4096;  // of 4 bytes: the half of a usual L1 cache
constexpr int kOperationsOfATurn = 1024;

/// Numbers that decide which of four operations is next, and on what: nothing for a compiler or a
/// branch predictor to foresee.
class Interpreter {
 public:
  Interpreter() {
    for (std::uint32_t& entry : table_) entry = next();
  }

  void run() {
    for (int i = 0; i < kOperationsOfATurn; ++i) {
      const std::uint32_t word = next();
      std::uint32_t& entry = table_[word % kTableEntries];
      switch (word >> 30) {
        case 0: entry += word; break;
        case 1: entry ^= table_[(word >> 8) % kTableEntries]; break;
        case 2: entry = (entry << 7) | (entry >> 25); break;
        default: entry -= word >> 3; break;
      }
    }
  }

  std::uint32_t result() const { return table_[0]; }

 private:
  std::uint32_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 17;
    state_ ^= state_ << 5;
    return state_;
  }

  std::uint32_t state_ = 1;  // all threads do the same work
  std::array<std::uint32_t, kTableEntries> table_{};
};

/// Turns that all threads together do in a second; absent where one could not be started.
Reading<double> turns_per_s(int threads) {
  const SteadyClock clock;
  std::atomic<int> waiting = threads;
  std::atomic<std::uint32_t> sink = 0;
  std::vector<double> rates(static_cast<std::size_t>(threads), 0);
  const auto work = [&](std::size_t index) {
    Interpreter interpreter;
    --waiting;
    while (waiting > 0) std::this_thread::yield();
    const std::int64_t from_ns = clock.now_ns();
    std::int64_t turns = 0;
    std::int64_t now_ns = from_ns;
    for (; now_ns - from_ns < kTurnNs; now_ns = clock.now_ns(), ++turns) interpreter.run();
    rates[index] = static_cast<double>(turns) / (static_cast<double>(now_ns - from_ns) * 1e-9);
    sink += interpreter.result();
  };
  std::vector<std::thread> others;
  try {
    for (int i = 1; i < threads; ++i) others.emplace_back(work, static_cast<std::size_t>(i));
  } catch (const std::system_error&) {
    waiting = 0;
    for (std::thread& other : others) other.join();
    return WhyAbsent::kNotSupported;
  }
  work(0);
  for (std::thread& other : others) other.join();
  double sum = 0;
  for (const double rate : rates) sum += rate;
  return sum;
}

}  // namespace

Reading<double> measure_core_scaling(int threads) {
  threads = std::min(threads, kThreadsMax);
  if (threads < 2) return WhyAbsent::kNotSupported;
  std::array<double, kRepeats> added{};
  for (double& one : added) {
    const Reading<double> alone = turns_per_s(1);
    const Reading<double> together = turns_per_s(threads);
    if (!alone || !together || *alone <= 0) return WhyAbsent::kNotSupported;
    one = (*together / *alone - 1) / (threads - 1);
  }
  std::sort(added.begin(), added.end());
  return std::clamp(added[kRepeats / 2], 0.0, 1.0);
}

}  // namespace unstarve::limits
