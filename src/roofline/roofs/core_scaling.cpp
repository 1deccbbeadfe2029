#include "roofline/roofs/core_scaling.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "roofline/roofs/rate.h"

namespace unstarve::roofline {

namespace {

constexpr int kRepeats = 3;
constexpr int kThreadsMax = 8;
constexpr std::int64_t kDurationNs = 50'000'000;
constexpr std::size_t kTableEntries = 4096;   // of 4 bytes: the half of a usual L1 cache
constexpr int kOperationsOfAPiece = 1 << 16;  // some 0.3 ms

/// Numbers that decide which of four operations is next, and on what: nothing for a compiler or a
/// branch predictor to foresee.
class Interpreter {
 public:
  Interpreter() {
    for (std::uint32_t& entry : table_) entry = next();
  }

  void run() {
    for (int i = 0; i < kOperationsOfAPiece; ++i) {
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

/// Pieces of work that all threads together do in a second; absent where one could not be started.
Reading<double> pieces_per_s(int threads, Session& session) {
  const auto interpret = [](int /*thread*/) -> Result<Work> {
    auto interpreter = std::make_shared<Interpreter>();
    return Work([interpreter]() -> Result<double> {
      interpreter->run();
      return 1;
    });
  };
  const RatePlan plan = {.threads = threads, .duration_ns = kDurationNs, .windows = 1};
  const auto rates = measure_rate(plan, interpret, session);
  if (!rates || rates->empty()) return WhyAbsent::kNotSupported;
  return rates->front();
}

}  // namespace

Reading<double> measure_core_scaling(int threads) {
  threads = std::min(threads, kThreadsMax);
  if (threads < 2) return WhyAbsent::kNotSupported;
  SteadyClock clock;
  Session session(clock, {});
  std::array<double, kRepeats> added{};
  for (double& gain : added) {
    const Reading<double> alone = pieces_per_s(1, session);
    const Reading<double> together = pieces_per_s(threads, session);
    if (!alone || !together || *alone <= 0) return WhyAbsent::kNotSupported;
    gain = (*together / *alone - 1) / (threads - 1);
  }
  std::sort(added.begin(), added.end());
  return std::clamp(added[kRepeats / 2], 0.0, 1.0);
}

}  // namespace unstarve::roofline
