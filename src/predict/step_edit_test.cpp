#include "predict/step_edit.h"

#include <gtest/gtest.h>

#include <cmath>

namespace unstarve::predict {
namespace {

TEST(StepEdit, WhatIsRemovedIsNoLongerWaitedFor) {
  const Speedup gain = predict_step_edit({.removed = {0.2, 0.5}});
  EXPECT_DOUBLE_EQ(gain.low, 1 / 0.8);
  EXPECT_DOUBLE_EQ(gain.high, 2.0);
  EXPECT_DOUBLE_EQ(gain.speedup, std::sqrt(2 / 0.8));
}

TEST(StepEdit, AStepTakesWhatTheHostOrTheLoaderTakes) {
  const Speedup gain = predict_step_edit({.removed = {0.2, 0.5}, .at_least = {0.7, 0.9}});
  EXPECT_DOUBLE_EQ(gain.low, 1 / 0.9);
  EXPECT_DOUBLE_EQ(gain.high, 1 / 0.7);
}

TEST(StepEdit, NothingThatIsRemovedAddsToAStep) {
  EXPECT_DOUBLE_EQ(predict_step_edit({.removed = {0, 0}, .at_least = {1.5, 2}}).low, 1);
}

TEST(StepEdit, AStepOfTwiceTheSamplesTakesWhatGrowsWithThemMore) {
  // A quarter of the step grows with its samples, another one perhaps.
  const Speedup gain = predict_step_edit({.added = {0.25, 0.5}, .samples_ratio = 2});
  EXPECT_DOUBLE_EQ(gain.low, 2 / 1.5);
  EXPECT_DOUBLE_EQ(gain.high, 2 / 1.25);
}

TEST(StepEdit, SharesOfAllTheTimeLeaveSomethingOfAStep) {
  EXPECT_TRUE(std::isfinite(predict_step_edit({.removed = {1, 1}}).high));
}

}  // namespace
}  // namespace unstarve::predict
