#include "predict/what_if.h"

#include <gtest/gtest.h>

#include <vector>

namespace unstarve::predict {
namespace {

PipelineMeasurements starving(std::size_t steps = 40) {
  PipelineMeasurements pipeline;
  for (std::size_t i = 0; i < steps; ++i) {
    const double fetch_s = 0.38 + 0.001 * static_cast<double>(i % 40);
    pipeline.steps.push_back({.step_s = fetch_s + 0.03,
                              .wait_s = fetch_s,
                              .staging_s = 0.01,
                              .copy_s = 0.01,
                              .device_s = 0.14,
                              .fetch_cpu_s = fetch_s,
                              .samples = 128});
  }
  pipeline.fetches_seen = true;
  pipeline.loader_known = true;
  return pipeline;
}

WhatIfOptions two_cores() {
  return {.machine = {.cores = 2, .parallel_efficiency = {0.9, 1.0}, .host_slowdown = {1.0, 1.1}}};
}

TEST(WhatIf, WorkersOnTwoCoresAtMostHalveTheStep) {
  const auto speedup = predict_speedup(starving(), more_workers(2, 2, 0), two_cores());
  ASSERT_TRUE(speedup.has_value());
  EXPECT_GT(speedup->speedup, 1.6);
  EXPECT_LT(speedup->high, 2.05 * 1.08);
  EXPECT_LE(speedup->low, speedup->speedup);
  EXPECT_LE(speedup->speedup, speedup->high);
}

TEST(WhatIf, NeverBeyondTheDevice) {
  const auto speedup = predict_speedup(starving(), native_loader(2, 4, 1e-5), two_cores());
  ASSERT_TRUE(speedup.has_value());
  // Mean step 0.43 s against 0.14 s of device time.
  EXPECT_NEAR(speedup->speedup, 0.4295 / 0.14, 0.09);
  EXPECT_LT(speedup->high, 0.4295 / 0.14 * 1.01);
}

TEST(WhatIf, SmallerBatchesShortenTheCopy) {
  const auto speedup = predict_speedup(starving(), native_loader(2, 4, 1e-5, 0.25), two_cores());
  ASSERT_TRUE(speedup.has_value());
  EXPECT_NEAR(speedup->speedup, 0.4295 / (0.14 - 0.0075), 0.1);
}

TEST(WhatIf, BatchesUsedAgainAreNotGivenBack) {
  PipelineMeasurements pipeline = starving();
  for (MeasuredStep& step : pipeline.steps) {
    step.step_s += 0.14;  // it reads the loss, and so waits for the device: 20 ms of lead remain
    step.sync_s = 0.12;
  }
  Remedy remedy = native_loader(2, 4, 1e-5);
  const auto step_s = [&] {
    const auto speedup = predict_speedup(pipeline, remedy, two_cores());
    return speedup ? pipeline.mean_step_s() / speedup->speedup : 0;
  };
  const double given_back_s = step_s();
  remedy.freeing_s = {0.006, 0.008};
  EXPECT_NEAR(given_back_s - step_s(), 0.007, 0.002);
  remedy.freeing_s = {1, 1};
  EXPECT_GT(step_s(), 0.1) << "more than was measured cannot be saved";
  for (MeasuredStep& step : pipeline.steps) step.staging_s = 0;
  const double pinned_s = step_s();
  remedy.freeing_s = {0, 0};
  EXPECT_NEAR(step_s(), pinned_s, 1e-9) << "pinned memory is kept";
}

TEST(WhatIf, SlowNativeLoaderIsPredictedAsSlow) {
  const auto speedup = predict_speedup(starving(), native_loader(1, 4, 0.01), two_cores());
  ASSERT_TRUE(speedup.has_value());
  EXPECT_LT(speedup->high, 0.5);
}

TEST(WhatIf, UnknownMachineGivesAWiderInterval) {
  const auto known = predict_speedup(starving(), more_workers(2, 2, 0), two_cores());
  WhatIfOptions unknown;
  unknown.machine.cores = 2;
  const auto guessed = predict_speedup(starving(), more_workers(2, 2, 0), unknown);
  ASSERT_TRUE(known.has_value() && guessed.has_value());
  EXPECT_GT(guessed->high - guessed->low, known->high - known->low);
}

TEST(WhatIf, SameSeedSameAnswer) {
  const auto a = predict_speedup(starving(), more_workers(2, 2, 1e6), two_cores());
  const auto b = predict_speedup(starving(), more_workers(2, 2, 1e6), two_cores());
  EXPECT_EQ(a->speedup, b->speedup);
  EXPECT_EQ(a->low, b->low);
}

TEST(WhatIf, MissingSignalsAreErrors) {
  EXPECT_FALSE(predict_speedup({}, more_workers(2, 2, 0), {}).has_value());
  PipelineMeasurements pipeline = starving();
  pipeline.workers = 4;
  pipeline.fetches_seen = false;
  EXPECT_FALSE(predict_speedup(pipeline, more_workers(8, 2, 0), {}).has_value());
  for (MeasuredStep& step : pipeline.steps) step.samples = 0;
  EXPECT_FALSE(predict_speedup(pipeline, native_loader(2, 4, 1e-3), {}).has_value());
}

}  // namespace
}  // namespace unstarve::predict
