#include "tune/judging/same_steps.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tune/judging/speed.h"

namespace unstarve::tune {
namespace {

/// Steps of texts of 64 to 512 tokens, of which a run makes `count`.
std::vector<double> steps_of_texts(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> tokens(64, 512);
  std::vector<double> steps;
  for (std::size_t i = 0; i < count; ++i) steps.push_back(1e-4 * tokens(generator));
  return steps;
}

TrialResult run_of(const std::vector<double>& steps_s, double times) {
  TrialResult run;
  for (const double step : steps_s) {
    run.steps_s.push_back(times * step);
    run.mean_step_s += times * step / static_cast<double>(steps_s.size());
  }
  run.samples_per_step = 8;
  return run;
}

TEST(SameSteps, OfManyLengthsAreComparedOneByOne) {
  const TrialResult before = run_of(steps_of_texts(24, 1), 1);
  TrialResult after = run_of(steps_of_texts(30, 1), 1 / 1.1);
  const auto faster = speedup_of_same_steps(before, after);
  ASSERT_TRUE(faster);
  EXPECT_NEAR(faster->speedup, 1.1, 1e-9);
  EXPECT_NEAR(faster->low, faster->high, 1e-9) << "of means the interval is a quarter wide";
  after.samples_per_step = 16;
  EXPECT_NEAR(speedup_between(before, after, before, true).low, 2.2, 1e-9) << "by sample";
}

TEST(SameSteps, NeedNotBeMeasuredInTheSameWindows) {
  const std::vector<double> steps = steps_of_texts(60, 1);
  const TrialResult before = run_of(steps, 1);
  TrialResult after;
  for (std::size_t from = 0; from + 3 <= steps.size(); from += 3) {
    after.steps_s.push_back((steps[from] + steps[from + 1] + steps[from + 2]) / 3 / 1.2);
    after.steps_of_each.push_back(3);
  }
  const auto faster = speedup_of_same_steps(before, after);
  ASSERT_TRUE(faster);
  EXPECT_NEAR(faster->speedup, 1.2, 1e-9);
  EXPECT_LT(faster->high - faster->low, 0.02);
}

TEST(SameSteps, AreNotThereWhereTheOrderIsAnotherOrStepsAreAlike) {
  const TrialResult before = run_of(steps_of_texts(40, 1), 1);
  EXPECT_FALSE(speedup_of_same_steps(before, run_of(steps_of_texts(40, 2), 1)));
  const TrialResult alike = run_of(std::vector<double>(40, 0.01), 1);
  EXPECT_FALSE(speedup_of_same_steps(alike, alike));
  const TrialResult few = run_of(steps_of_texts(7, 1), 1);
  EXPECT_FALSE(speedup_of_same_steps(before, few));
  EXPECT_FALSE(speedup_of_same_steps(before, {}));
}

}  // namespace
}  // namespace unstarve::tune
