#include "emulated/engine/step_finder.h"

#include <gtest/gtest.h>

#include <vector>

#include "emulated/engine/program.h"

namespace unstarve::emulated {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
const char* const kNames[] = {"convolution", "norm", "relu", "product", "update", "other"};

Operation kernel(int name, std::int64_t ns, std::int64_t gap_ns = 0) {
  Operation made;
  made.duration_ns = ns;
  made.gap_ns = gap_ns;
  made.activity.kind = Activity::Kind::kKernel;
  made.activity.name = kNames[name];
  return made;
}

/// 12 equal layers forward and backward, then 10 updates: 46 kernels, 58 ms.
std::vector<Operation> step_of_layers() {
  std::vector<Operation> step;
  for (int i = 0; i < 12; ++i) {
    for (const int name : {0, 1}) step.push_back(kernel(name, kMillisecond));
  }
  for (int i = 0; i < 12; ++i) step.push_back(kernel(2, 2 * kMillisecond));
  for (int i = 0; i < 10; ++i) step.push_back(kernel(4, kMillisecond));
  return step;
}

/// What is found while the step is given `times` over, and when.
struct Search {
  explicit Search(std::int64_t step_ns) : finder(step_ns) {}

  void give(const std::vector<Operation>& work, int times = 1) {
    for (int i = 0; i < times; ++i) {
      for (const Operation& operation : work) {
        if (const auto step = finder.add(operation)) {
          EXPECT_FALSE(found) << "it is said once";
          found = step;
        }
      }
    }
  }

  StepFinder finder;
  std::optional<FoundStep> found;
};

TEST(StepFinderTest, FindsTheStepAndNotItsLayers) {
  for (const std::int64_t asked_ms : {30, 40, 58, 90, 115}) {
    Search search(asked_ms * kMillisecond);
    search.give({kernel(5, 3 * kMillisecond), kernel(5, 3 * kMillisecond),
                 kernel(5, 3 * kMillisecond)});  // what comes first
    search.give(step_of_layers(), 20);
    ASSERT_TRUE(search.found) << asked_ms;
    EXPECT_EQ(search.found->kernels, 46);
    EXPECT_GE(search.found->seen, 3);
    EXPECT_EQ(search.found->modelled_ns, 58 * kMillisecond);
    EXPECT_NEAR(search.found->factor, static_cast<double>(asked_ms) / 58, 1e-9);
  }
}

TEST(StepFinderTest, HoldsBackWhileARepetitionMayBePartOfAStep) {
  Search search(58 * kMillisecond);
  search.give({kernel(0, kMillisecond), kernel(1, kMillisecond)},
              110);  // 220 ms of layers: less than four steps
  EXPECT_FALSE(search.found);
}

TEST(StepFinderTest, TakesNothingThatAFactorOfTwoDoesNotBringToTheTime) {
  for (const std::int64_t asked_ms : {28, 117}) {
    Search search(asked_ms * kMillisecond);
    search.give(step_of_layers(), 40);
    EXPECT_FALSE(search.found) << asked_ms;
  }
}

TEST(StepFinderTest, FindsTrainingBehindAnEvaluationOfAnotherLength) {
  Search search(58 * kMillisecond);
  search.give({kernel(0, 5 * kMillisecond), kernel(3, 5 * kMillisecond)}, 100);
  EXPECT_FALSE(search.found);
  search.give(step_of_layers(), 12);
  ASSERT_TRUE(search.found);
  EXPECT_EQ(search.found->kernels, 46);
}

TEST(StepFinderTest, NothingIsFoundWhereNothingRepeats) {
  Search search(10 * kMillisecond);
  unsigned random = 1;
  for (int i = 0; i < 5000; ++i) {
    random = random * 1664525U + 1013904223U;
    search.give({kernel(static_cast<int>(random >> 16U) % 6, kMillisecond)});
  }
  EXPECT_FALSE(search.found);
}

TEST(StepFinderTest, PausesAndCopiesAreNotStretched) {
  std::vector<Operation> step;
  for (int i = 0; i < 5; ++i) step.push_back(kernel(i, 8 * kMillisecond, kMillisecond));
  Operation copy;
  copy.engine = Engine::kCopyToDevice;
  copy.duration_ns = 5 * kMillisecond;
  copy.activity.kind = Activity::Kind::kCopy;
  step.push_back(copy);
  Search search(70 * kMillisecond);
  search.give(step, 12);
  ASSERT_TRUE(search.found);
  EXPECT_EQ(search.found->kernels, 5);
  EXPECT_EQ(search.found->modelled_ns, 50 * kMillisecond);
  EXPECT_NEAR(search.found->factor, 60.0 / 40, 1e-9);  // 70 less 5 of pauses and 5 of the copy
}

TEST(StepFinderTest, AStepMayBeOneGraph) {
  Program program;
  program.lanes.push_back({.device = 0, .operations = step_of_layers()});
  Operation launch;
  launch.engine = Engine::kGraph;
  launch.program = std::make_shared<const Program>(program);
  Search search(87 * kMillisecond);
  search.give({launch}, 12);
  ASSERT_TRUE(search.found);
  EXPECT_EQ(search.found->kernels, 1);
  EXPECT_NEAR(search.found->factor, 1.5, 1e-9);
}

TEST(StepFinderTest, ShapesMayVaryFromStepToStep) {
  Search search(20 * kMillisecond);
  for (int i = 0; i < 20; ++i) {
    search.give(
        {kernel(0, (8 + i % 5) * kMillisecond), kernel(1, kMillisecond), kernel(4, kMillisecond)});
  }
  ASSERT_TRUE(search.found);
  EXPECT_EQ(search.found->kernels, 3);
  EXPECT_NEAR(search.found->factor, 20.0 / 12, 0.2);
}

}  // namespace
}  // namespace unstarve::emulated
