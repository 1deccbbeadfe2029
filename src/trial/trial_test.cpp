#include "trial/trial.h"

#include <gtest/gtest.h>

#include <vector>

namespace unstarve::trial {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

/// Seconds after the first step at which a trial ends that is looked at every 250 ms, if its steps
/// take these times again and again.
double ends_after_s(const TrialLength& length, const std::vector<std::int64_t>& steps_ms) {
  ManualClock clock(1'000 * kMillisecond);
  StopWatch watch(clock, length);
  observe::LiveView now;
  EXPECT_TRUE(watch.go_on(now)) << "nothing stepped yet";
  clock.advance_ns(700 * kMillisecond);
  const std::int64_t began_ns = clock.now_ns();
  std::int64_t ended_ns = began_ns;
  now.steps = now.steps_of_one = 1;
  now.last_step_ended_ns = ended_ns;
  while (watch.go_on(now) && clock.now_ns() - began_ns < 3'600'000 * kMillisecond) {
    clock.advance_ns(250 * kMillisecond);
    while (true) {
      const auto at = static_cast<std::size_t>(now.steps - 1) % steps_ms.size();
      if (ended_ns + steps_ms[at] * kMillisecond > clock.now_ns()) break;
      ended_ns += steps_ms[at] * kMillisecond;
      now.steps = ++now.steps_of_one;
    }
    now.last_step_ended_ns = ended_ns;
  }
  return static_cast<double>(clock.now_ns() - began_ns) / 1e9;
}

TEST(StopWatch, EndsAfterItsTime) {
  EXPECT_NEAR(ends_after_s({.seconds = 10}, {140}), 10, 0.3);
  EXPECT_GE(ends_after_s({.seconds = 0}, {140}), 3600) << "to the job's end";
}

TEST(StopWatch, WaitsForTwelveStepsUpToFourTimesAsLong) {
  EXPECT_NEAR(ends_after_s({.seconds = 10}, {2'000}), 22, 0.3);
  EXPECT_NEAR(ends_after_s({.seconds = 10}, {20'000}), 40, 0.3);
}

TEST(StopWatch, EndsEarlierWhenTheStepIsKnown) {
  // Twenty-four steps of 140 ms, and what a group has more than four between two looks.
  const double steady_s = ends_after_s({.seconds = 10, .until_known = true}, {140, 141, 139});
  EXPECT_GE(steady_s, 24 * 0.14);
  EXPECT_LT(steady_s, 36 * 0.14);
  // Too few.
  EXPECT_NEAR(ends_after_s({.seconds = 10, .until_known = true}, {450}), 10, 0.3);
  // Batches that were made ahead are soon used up.
  std::vector<std::int64_t> slowing(10, 140);
  slowing.insert(slowing.end(), 100, 200);
  EXPECT_NEAR(ends_after_s({.seconds = 10, .until_known = true}, slowing), 10, 0.3);
}

}  // namespace
}  // namespace unstarve::trial
