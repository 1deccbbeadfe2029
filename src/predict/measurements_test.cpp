#include "predict/measurements.h"

#include <gtest/gtest.h>

namespace unstarve::predict {
namespace {

constexpr std::int64_t kMs = 1'000'000;

/// Three steps of 100 ms: 60 ms in the loader, a pageable copy staged for 5 ms, 20 ms of kernel.
trace::Timeline three_steps() {
  trace::Timeline timeline;
  timeline.file = "test";
  for (std::int64_t i = 0; i < 3; ++i) {
    const std::int64_t t = i * 100 * kMs;
    timeline.steps.push_back({.when = {t, t + 100 * kMs}, .index = i, .thread = 7, .process = 3});
    timeline.loader_waits.push_back(
        {.when = {t, t + 60 * kMs}, .thread = 7, .process = 3, .samples = 32});
    timeline.fetches.push_back(
        {.when = {t, t + 60 * kMs}, .process = 3, .thread = 7, .samples = 32, .cpu_ns = 50 * kMs});
    timeline.host_calls.push_back({.start_ns = t + 60 * kMs,
                                   .end_ns = t + 65 * kMs,
                                   .correlation = 3 * i,
                                   .thread = 7,
                                   .process = 3,
                                   .kind = trace::HostCallKind::kLaunch});
    timeline.host_calls.push_back({.start_ns = t + 66 * kMs,
                                   .end_ns = t + 67 * kMs,
                                   .correlation = 3 * i + 1,
                                   .thread = 7,
                                   .process = 3,
                                   .kind = trace::HostCallKind::kLaunch});
    timeline.host_calls.push_back({.start_ns = t + 70 * kMs,
                                   .end_ns = t + 88 * kMs,
                                   .thread = 7,
                                   .process = 3,
                                   .kind = trace::HostCallKind::kSync});
    timeline.device_ops.push_back({.start_ns = t + 61 * kMs,
                                   .end_ns = t + 66 * kMs,
                                   .correlation = 3 * i,
                                   .kind = trace::DeviceOpKind::kCopy,
                                   .direction = trace::CopyDirection::kHostToDevice,
                                   .source = trace::MemoryKind::kPageable});
    timeline.device_ops.push_back(
        {.start_ns = t + 67 * kMs, .end_ns = t + 87 * kMs, .correlation = 3 * i + 1});
  }
  timeline.loaders.push_back({.num_workers = 0});
  return timeline;
}

TEST(MeasurePipeline, SplitsAStep) {
  trace::Timeline live = three_steps();
  live.input = trace::InputKind::kRun;  // its first step is warm-up
  const auto pipeline = measure_pipeline(job::JobView(live), 0, {});
  ASSERT_TRUE(pipeline.has_value());
  ASSERT_EQ(pipeline->steps.size(), 2U);
  const MeasuredStep& step = pipeline->steps[0];
  EXPECT_NEAR(step.step_s, 0.1, 1e-9);
  EXPECT_NEAR(step.wait_s, 0.06, 1e-9);
  EXPECT_NEAR(step.staging_s, 0.005, 1e-9);
  EXPECT_NEAR(step.sync_s, 0.018, 1e-9);
  EXPECT_NEAR(step.device_s, 0.025, 1e-9);
  EXPECT_NEAR(step.copy_s, 0.005, 1e-9);
  EXPECT_NEAR(step.fetch_cpu_s, 0.05, 1e-9);
  EXPECT_NEAR(step.fetch_blocked_s, 0.01, 1e-9);
  EXPECT_EQ(step.samples, 32);
  EXPECT_EQ(pipeline->workers, 0);
}

TEST(MeasurePipeline, StepsOutsideOfTheWindowsGetTheDeviceTimesOfThoseInside) {
  trace::Timeline timeline = three_steps();
  // The second step lies in a window, of the third only half; the first has no records.
  timeline.windows.push_back({.when = {100 * kMs, 250 * kMs}, .process = 3});
  timeline.device_ops.erase(timeline.device_ops.begin(), timeline.device_ops.begin() + 2);
  timeline.device_ops.pop_back();
  const auto pipeline = measure_pipeline(job::JobView(timeline), 0, {});
  ASSERT_TRUE(pipeline.has_value());
  EXPECT_EQ(pipeline->steps_recorded, 1U);
  ASSERT_EQ(pipeline->steps.size(), 3U);
  for (const MeasuredStep& step : pipeline->steps) {
    EXPECT_NEAR(step.device_s, 0.025, 1e-9);
    EXPECT_NEAR(step.staging_s, 0.005, 1e-9);
    EXPECT_NEAR(step.wait_s, 0.06, 1e-9);
  }
  timeline.windows.front().when = {110 * kMs, 190 * kMs};
  EXPECT_FALSE(measure_pipeline(job::JobView(timeline), 0, {}).has_value()) << "no whole step";
}

TEST(MeasurePipeline, TimeInWhichRecordingHeldTheJobUpIsNoPartOfAStep) {
  trace::Timeline timeline = three_steps();
  timeline.windows.push_back(
      {.when = {0, 200 * kMs}, .process = 3, .interruption = {190 * kMs, 240 * kMs}});
  const auto pipeline = measure_pipeline(job::JobView(timeline), 0, {});
  ASSERT_TRUE(pipeline.has_value());
  EXPECT_NEAR(pipeline->steps[0].step_s, 0.1, 1e-9);
  EXPECT_NEAR(pipeline->steps[1].step_s, 0.09, 1e-9);
  EXPECT_NEAR(pipeline->steps[2].step_s, 0.06, 1e-9);
}

TEST(MeasurePipeline, NamesTheMissingSignal) {
  trace::Timeline timeline = three_steps();
  timeline.steps.clear();
  EXPECT_FALSE(measure_pipeline(job::JobView(timeline), 0, {}).has_value());
  timeline = three_steps();
  timeline.device_ops.clear();
  EXPECT_FALSE(measure_pipeline(job::JobView(timeline), 0, {}).has_value());
  const auto from_monitor = measure_pipeline(job::JobView(timeline), 0, {.device_busy_ratio = 0.3});
  ASSERT_TRUE(from_monitor.has_value());
  EXPECT_NEAR(from_monitor->steps[0].device_s, 0.03, 1e-9);
  timeline.loader_waits.clear();
  EXPECT_FALSE(measure_pipeline(job::JobView(timeline), 0, {.device_busy_ratio = 0.3}).has_value());
}

}  // namespace
}  // namespace unstarve::predict
