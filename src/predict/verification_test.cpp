#include "predict/verification.h"

#include <gtest/gtest.h>

namespace unstarve::predict {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

trace::Timeline steps_of(std::int64_t step_ms, std::int64_t kernel_ms) {
  trace::Timeline timeline;
  timeline.input = trace::InputKind::kRun;
  timeline.file = "test";
  for (std::int64_t i = 0; i < 20; ++i) {
    const std::int64_t t = i * step_ms * kMillisecond;
    timeline.steps.push_back(
        {.when = {t, t + step_ms * kMillisecond}, .index = i, .process = 1, .samples = 10});
    // Two overlapping kernels count once; the copy is not compute.
    timeline.device_ops.push_back({.start_ns = t, .end_ns = t + kernel_ms * kMillisecond});
    timeline.device_ops.push_back({.start_ns = t, .end_ns = t + kernel_ms * kMillisecond / 2});
    timeline.device_ops.push_back({.start_ns = t + kernel_ms * kMillisecond,
                                   .end_ns = t + (kernel_ms + 1) * kMillisecond,
                                   .kind = trace::DeviceOpKind::kCopy});
  }
  return timeline;
}

Result<RunMeasurement> measure(const trace::Timeline& timeline) {
  return measure_run(job::JobView(timeline), 0);
}

TEST(MeasureRun, GivesStepAuAndRate) {
  const auto run = measure(steps_of(100, 40));
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->steps_s.size(), 19U);
  EXPECT_NEAR(run->mean_step_s, 0.1, 1e-9);
  EXPECT_NEAR(*run->au, 0.4, 1e-9);
  EXPECT_NEAR(*run->samples_per_s, 100, 1e-6);
}

TEST(MeasureRun, KnowsAFullStepBesideTheLastOfAPass) {
  trace::Timeline timeline = steps_of(100, 40);
  EXPECT_EQ(*measure(timeline)->samples_of_full_step, 10);
  for (const std::size_t last : {4U, 9U, 14U}) timeline.steps[last].samples = 3;
  EXPECT_EQ(*measure(timeline)->samples_of_full_step, 10);
  for (std::size_t i = 0; i < 20; i += 2) timeline.steps[i].samples = 1;
  EXPECT_EQ(*measure(timeline)->samples_of_full_step, 10) << "every second one is short";
  for (std::size_t i = 0; i < 20; ++i) timeline.steps[i].samples = static_cast<std::int64_t>(i);
  EXPECT_FALSE(measure(timeline)->samples_of_full_step) << "batches of many sizes";
}

TEST(MeasureRun, CountsStepsOfPassesThatAnotherFollowed) {
  trace::Timeline timeline = steps_of(100, 40);
  EXPECT_FALSE(measure(timeline)->steps_of_pass);
  for (std::int64_t i = 0; i < 20; ++i) {
    const std::int64_t t = i * 100 * kMillisecond;
    // Of seven batches each; the last pass has not ended.
    if (i % 7 == 0)
      timeline.loaders.push_back({.process = 1, .thread = 1, .made_ns = t + 1, .id = 3});
    timeline.loader_waits.push_back(
        {.when = {t + 2, t + 1000}, .thread = 1, .process = 1, .loader_id = 3, .samples = 10});
    // An evaluation's loader is another.
    timeline.loaders.push_back({.process = 1, .thread = 1, .made_ns = t + 5, .id = 4});
  }
  EXPECT_EQ(*measure(timeline)->steps_of_pass, 7);
}

TEST(MeasureRun, NeedsTwoSteps) {
  trace::Timeline timeline = steps_of(100, 40);
  timeline.steps.resize(2);
  EXPECT_FALSE(measure(timeline).has_value());
  timeline = steps_of(100, 40);
  timeline.device_ops.clear();
  EXPECT_FALSE(measure(timeline)->au.has_value());
}

TEST(MeasuredSpeedup, IsARatioWithAnInterval) {
  const auto before = measure(steps_of(100, 40));
  const auto after = measure(steps_of(50, 40));
  const Speedup speedup = measured_speedup(*before, *after);
  EXPECT_NEAR(speedup.speedup, 2.0, 1e-9);
  EXPECT_NEAR(speedup.low, 2.0, 1e-6);
  EXPECT_TRUE(prediction_held({1.9, 1.8, 2.1}, speedup));
  EXPECT_FALSE(prediction_held({1.5, 1.4, 1.9}, speedup));
}

}  // namespace
}  // namespace unstarve::predict
