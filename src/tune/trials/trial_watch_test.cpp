#include "tune/trials/trial_watch.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace unstarve::tune {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr double kTrialSeconds = 8;

/// A trial whose first step ends after a second, against a job with steps of 50 ms.
class TrialWatchTest : public ::testing::Test {
 protected:
  TrialWatchTest() { request_.baseline_step_s = 0.05; }

  /// One more step, as the watch sees it right after. Whether the trial goes on.
  bool step(double seconds) {
    clock_.advance_ns(static_cast<std::int64_t>(seconds * static_cast<double>(kSecond)));
    view_.elapsed_ns = clock_.now_ns();
    view_.steps += ranks_;
    ++view_.steps_of_one;
    view_.last_step_ended_ns = clock_.now_ns();
    return watch_.go_on(view_);
  }
  /// Seconds that the trial goes on with steps that take so long.
  double goes_on_with(double step_s) {
    double seconds = 0;
    while (step(step_s)) seconds += step_s;
    return seconds;
  }

  ManualClock clock_{0};
  TrialRequest request_;
  observe::LiveView view_;
  std::int64_t compiled_in_ = 0;
  std::int64_t ranks_ = 1;
  TrialWatch watch_{clock_, request_, kTrialSeconds, [this] { return ToldSoFar{compiled_in_}; }};
};

TEST_F(TrialWatchTest, EndsAfterTheTrialsTime) {
  ASSERT_TRUE(step(1));
  EXPECT_NEAR(goes_on_with(0.05), kTrialSeconds, 0.2);
  EXPECT_FALSE(watch_.given_up());
  EXPECT_DOUBLE_EQ(watch_.cold_s(), 1);
}

TEST_F(TrialWatchTest, GivesUpWhatIsFarSlower) {
  ASSERT_TRUE(step(1));
  EXPECT_LT(goes_on_with(0.25), 3);
  EXPECT_TRUE(watch_.given_up());
}

TEST_F(TrialWatchTest, StepsOfSeveralRanksAreOneStep) {
  ranks_ = 4;
  ASSERT_TRUE(step(1));
  EXPECT_LT(goes_on_with(0.1), 3);
  EXPECT_TRUE(watch_.given_up()) << "twice as slow";
}

TEST_F(TrialWatchTest, LossesAreRecordedForAsManyStepsAsTheHookCounts) {
  request_.parity_seed = 0;
  request_.parity_steps = 40;
  // Batches that came before the first step of an optimizer were counted from outside.
  constexpr std::int64_t kBatchesBefore = 16;
  const auto recorded = [this] {
    return ToldSoFar{0, std::max<std::int64_t>(0, view_.steps_of_one - kBatchesBefore)};
  };
  TrialWatch watch(clock_, request_, kTrialSeconds, recorded);
  do step(0.05);
  while (watch.go_on(view_));
  EXPECT_EQ(recorded().recorded_steps, 40);
}

TEST_F(TrialWatchTest, CompilingInTheSecondStepIsPartOfTheStart) {
  ASSERT_TRUE(step(1));
  compiled_in_ = 2;
  ASSERT_TRUE(step(20));
  EXPECT_NEAR(goes_on_with(0.04), kTrialSeconds, 0.2);
  EXPECT_FALSE(watch_.given_up());
  EXPECT_DOUBLE_EQ(watch_.cold_s(), 1);
}

TEST_F(TrialWatchTest, TheSecondStepMayCompileForAsLongAsTheFirst) {
  request_.first_step_within_s = 200;
  ASSERT_TRUE(step(1));
  for (int second = 0; second < 150; ++second) {
    clock_.advance_ns(kSecond);
    view_.elapsed_ns = clock_.now_ns();
    ASSERT_TRUE(watch_.go_on(view_)) << second;
  }
  ASSERT_TRUE(step(1));
  ASSERT_TRUE(step(0.04));
  compiled_in_ = 2;
  EXPECT_NEAR(goes_on_with(0.04), kTrialSeconds, 0.2);
}

TEST_F(TrialWatchTest, WhereStepsTakeMinutesItEndsAtLast) {
  ASSERT_TRUE(step(1));
  EXPECT_FALSE(step(70));
}

TEST_F(TrialWatchTest, WhatCompilesInTheFirstStepBeginsThere) {
  compiled_in_ = 1;
  ASSERT_TRUE(step(30));
  EXPECT_NEAR(goes_on_with(0.05), kTrialSeconds, 0.2);
}

TEST_F(TrialWatchTest, WhatCompilesAgainAndAgainIsGivenUp) {
  ASSERT_TRUE(step(1));
  double seconds = 0;
  for (compiled_in_ = 2; step(2) && seconds < 200; ++compiled_in_) seconds += 2;
  EXPECT_LT(seconds, 60);
  EXPECT_TRUE(watch_.given_up());
}

TEST_F(TrialWatchTest, AFewSlowStepsAreWaitedForBehindCompilingToo) {
  request_.baseline_step_s = 0;
  ASSERT_TRUE(step(1));
  compiled_in_ = 2;
  ASSERT_TRUE(step(20));
  EXPECT_NEAR(goes_on_with(2), 11 * 2, 2.1);
}

TEST_F(TrialWatchTest, WithoutAFirstStepItTimesOut) {
  request_.first_step_within_s = 5;
  TrialWatch watch(clock_, request_, kTrialSeconds, [] { return ToldSoFar(); });
  ASSERT_TRUE(watch.go_on(view_));
  clock_.advance_ns(6 * kSecond);
  EXPECT_FALSE(watch.go_on(view_));
  EXPECT_TRUE(watch.timed_out());
}

}  // namespace
}  // namespace unstarve::tune
