#include "tune/judging/promise.h"

#include <gtest/gtest.h>

namespace unstarve::tune {
namespace {

Lever easing(Eases eases) {
  Lever lever;
  lever.eases = eases;
  return lever;
}

double saved(Eases eases, const StepShares& shares) {
  return most_saved(easing(eases), {shares}).value_or(-1);
}

TEST(Promise, OnAGpuIsAShareOfItsTime) {
  const StepShares gpu = {.compute = 0.7,
                          .launches = 0.2,
                          .memory = 0.05,
                          .copies = 0.04,
                          .float_products = 0.4,
                          .products = 0.5};
  EXPECT_DOUBLE_EQ(saved(Eases::kProducts, gpu), 0.4);
  EXPECT_DOUBLE_EQ(saved(Eases::kPrecision, gpu), 0.5) << "and half of what is no product";
  EXPECT_DOUBLE_EQ(saved(Eases::kFusion, gpu), 0.4);
  EXPECT_DOUBLE_EQ(saved(Eases::kLaunches, gpu), 0.2);
  EXPECT_DOUBLE_EQ(saved(Eases::kMemory, gpu), 0.05);
  EXPECT_DOUBLE_EQ(saved(Eases::kCopies, gpu), 0.04);
  EXPECT_DOUBLE_EQ(saved(Eases::kCompute, gpu), 0.7);
  EXPECT_FALSE(most_saved(easing(Eases::kHostMemory), {gpu}));
}

TEST(Promise, OnACpuIsAShareOfOneStep) {
  const StepShares cpu = {
      .optimizer = 0.2, .zeroing = 0.02, .system = 0.1, .products = 0.5, .loading = 0.08};
  EXPECT_DOUBLE_EQ(saved(Eases::kProducts, cpu), 0.5);
  EXPECT_DOUBLE_EQ(saved(Eases::kPrecision, cpu), 0.6);
  EXPECT_DOUBLE_EQ(saved(Eases::kFusion, cpu), 0.2);
  EXPECT_DOUBLE_EQ(saved(Eases::kCompute, cpu), 0.7);
  EXPECT_DOUBLE_EQ(saved(Eases::kOptimizer, cpu), 0.2);
  EXPECT_DOUBLE_EQ(saved(Eases::kZeroing, cpu), 0.08);
  EXPECT_DOUBLE_EQ(saved(Eases::kHostMemory, cpu), 0.1);
  EXPECT_DOUBLE_EQ(saved(Eases::kLoading, cpu), 0.08);
}

TEST(Promise, IsThatOfTheRunInWhichMostCouldBeSaved) {
  const StepShares first = {.optimizer = 0.2, .system = 0.3, .products = 0.5};
  const StepShares second = {.optimizer = 0.4, .system = 0.1, .products = 0.4};
  EXPECT_DOUBLE_EQ(*most_saved(easing(Eases::kOptimizer), {first, second}), 0.4);
  EXPECT_DOUBLE_EQ(*most_saved(easing(Eases::kHostMemory), {first, second}), 0.3);
  EXPECT_DOUBLE_EQ(*most_saved(easing(Eases::kOptimizer), {{}, first}), 0.2) << "none looked";
}

TEST(Promise, IsUnknownWhereNobodyLooked) {
  for (const Eases eases :
       {Eases::kCompute, Eases::kOptimizer, Eases::kHostMemory, Eases::kLoading, Eases::kThreads}) {
    EXPECT_FALSE(most_saved(easing(eases), {StepShares()}));
  }
  Lever twice = easing(Eases::kThreads);
  twice.most_saved = 0.5;
  EXPECT_DOUBLE_EQ(*most_saved(twice, {StepShares()}), 0.5) << "it follows from the lever";
}

TEST(Promise, OnACpuThreadsComeBeforeWhatTheyCompute) {
  const StepShares cpu = {.optimizer = 0.1, .system = 0.9, .products = 0.8, .loading = 0.01};
  Lever costs_time = easing(Eases::kCompute);
  costs_time.saves_memory = true;
  const double threads = promise_of(easing(Eases::kThreads), {cpu}, false);
  for (const Eases eases : {Eases::kCompute, Eases::kPrecision, Eases::kHostMemory}) {
    EXPECT_GT(threads, promise_of(easing(eases), {cpu}, false));
    EXPECT_GT(promise_of(easing(eases), {cpu}, false), promise_of(costs_time, {cpu}, false));
  }
  EXPECT_GT(promise_of(costs_time, {cpu}, false),
            promise_of(easing(Eases::kLoading), {cpu}, false));
  EXPECT_LT(threads, promise_of(easing(Eases::kLoading), {cpu}, true)) << "of a job that waits";
}

TEST(Promise, OfAllOfAStepIsNotWithoutEnd) {
  EXPECT_DOUBLE_EQ(speedup_of_saving(0.5), 2);
  EXPECT_DOUBLE_EQ(speedup_of_saving(1), 100);
}

}  // namespace
}  // namespace unstarve::tune
