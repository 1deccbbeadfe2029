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

TEST(MeasurePipeline, TellsPinningFromFetching) {
  trace::Timeline timeline = three_steps();
  for (trace::Fetch& fetch : timeline.fetches) fetch.when.end_ns -= 9 * kMs;
  const auto pinning_s = [&timeline] {
    const auto pipeline = measure_pipeline(job::JobView(timeline), 0, {});
    return pipeline ? pipeline->pinning_s : -1;
  };
  EXPECT_EQ(pinning_s(), 0) << "nobody asked for it";
  timeline.loaders.front().pin_memory = true;
  EXPECT_NEAR(pinning_s(), 0.009, 1e-9);
  timeline.fetches.pop_back();  // lost
  EXPECT_NEAR(pinning_s(), 0.009, 1e-9);
  timeline.loaders.front().num_workers = 2;
  EXPECT_EQ(pinning_s(), 0) << "a thread beside it does that";
}

TEST(MeasurePipeline, OfWorkersTellsWhatReceivingABatchTakes) {
  trace::Timeline timeline = three_steps();
  const auto handover = [&timeline]() -> Range {
    const auto pipeline = measure_pipeline(job::JobView(timeline), 0, {});
    return pipeline ? pipeline->handover_s : Range{-1, -1};
  };
  EXPECT_EQ(handover().high, 0) << "the training thread fetches";
  timeline.loaders.front().num_workers = 1;
  for (trace::Fetch& fetch : timeline.fetches) {
    fetch.process = 9;
    fetch.when.end_ns -= 7 * kMs;
  }
  for (trace::LoaderWait& wait : timeline.loader_waits) wait.ready_batches = 0;
  EXPECT_EQ(handover().low, 0);
  EXPECT_NEAR(handover().high, 0.007, 1e-9);
  for (trace::Fetch& fetch : timeline.fetches) {
    fetch.when.start_ns -= 20 * kMs;
    fetch.when.end_ns = fetch.when.start_ns + 1;
  }
  EXPECT_EQ(handover().high, 0) << "batches came before they were waited for";
  for (trace::LoaderWait& wait : timeline.loader_waits) wait.ready_batches = 1;
  EXPECT_NEAR(handover().low, 0.06, 1e-9) << "all of the wait";
  EXPECT_NEAR(handover().high, 0.06, 1e-9);
}

TEST(MeasurePipeline, AWaitThatIsSeenTwiceCountsOnce) {
  trace::Timeline timeline = three_steps();
  // From 69 to 89 ms of the step by the hook; the library's own call lies within.
  trace::HostCall call = timeline.host_calls[2];
  call.start_ns -= kMs;
  call.end_ns += kMs;
  timeline.host_calls.push_back(call);
  sort_by_start(timeline);
  const auto pipeline = measure_pipeline(job::JobView(timeline), 0, {});
  ASSERT_TRUE(pipeline.has_value());
  EXPECT_NEAR(pipeline->steps[0].sync_s, 0.020, 1e-9);
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

/// Forty such steps, behind one of warm-up.
trace::Timeline many_steps() {
  const trace::Timeline three = three_steps();
  trace::Timeline timeline = three;
  timeline.input = trace::InputKind::kRun;
  const auto repeat = [](const auto& first, auto& all, const auto& shift) {
    for (std::int64_t i = 3; i < 42; i += 3) {
      for (auto copy : first) {
        shift(copy, i * 100 * kMs);
        all.push_back(copy);
      }
    }
  };
  const auto shift_when = [](auto& event, std::int64_t by_ns) {
    event.when.start_ns += by_ns;
    event.when.end_ns += by_ns;
  };
  const auto shift_ends = [](auto& event, std::int64_t by_ns) {
    event.start_ns += by_ns;
    event.end_ns += by_ns;
    if (event.correlation != trace::kNoCorrelation) event.correlation += 3 * by_ns / (100 * kMs);
  };
  repeat(three.steps, timeline.steps, shift_when);
  repeat(three.loader_waits, timeline.loader_waits, shift_when);
  repeat(three.host_calls, timeline.host_calls, shift_ends);
  repeat(three.device_ops, timeline.device_ops, shift_ends);
  return timeline;
}

/// What a sampler reads every 35 ms of a job that takes so many CPUs while it waits for the device
/// (from 70 to 88 ms of a step), 1.6 in the loader (until 60 ms), 0.7 else.
std::vector<CpuReading> readings_with(double device_wait_cpus) {
  std::vector<CpuReading> readings;
  for (std::int64_t from_ms = 105; from_ms + 35 < 4200; from_ms += 35) {
    double sum = 0;
    for (std::int64_t ms = from_ms; ms < from_ms + 35; ++ms) {
      const std::int64_t in_step = ms % 100;
      const bool waits = in_step >= 70 && in_step < 88;
      sum += in_step < 60 ? 1.6 : waits ? device_wait_cpus : 0.7;
    }
    readings.push_back({{from_ms * kMs, (from_ms + 35) * kMs}, sum / 35});
  }
  return readings;
}

TEST(DeviceWaitCpu, IsToldFromTheJobsReadings) {
  trace::Timeline timeline = many_steps();
  // Copies from pageable memory come back when they have ended: that is work, and no wait.
  for (trace::DeviceOp& op : timeline.device_ops) {
    if (op.kind == trace::DeviceOpKind::kCopy) op.end_ns -= 2 * kMs;
  }
  const job::JobView job(timeline);
  for (const double planted : {0.0, 0.35, 1.0}) {
    std::vector<CpuReading> readings = readings_with(planted);
    const Range exact = device_wait_cpu(job, 0, readings);
    EXPECT_NEAR(exact.low, planted, 0.02);
    EXPECT_NEAR(exact.high, planted, 0.02);
    // The kernel counts in tenths of what a reading covers.
    for (std::size_t i = 0; i < readings.size(); ++i) {
      readings[i].cpus = std::max(0.0, readings[i].cpus + (i % 2 == 0 ? 0.1 : -0.1));
    }
    const Range noisy = device_wait_cpu(job, 0, readings);
    EXPECT_LE(noisy.low, planted + 0.02);
    EXPECT_GE(noisy.high, planted - 0.02);
    EXPECT_LT(noisy.high - noisy.low, 0.35);
  }
  const auto pipeline = measure_pipeline(job, 0, {.job_cpu = readings_with(1)});
  ASSERT_TRUE(pipeline.has_value());
  EXPECT_NEAR(pipeline->device_wait_cpu.low, 1, 0.02);
}

TEST(DeviceWaitCpu, IsAnythingWhereNothingTells) {
  const auto is_unknown = [](const trace::Timeline& timeline,
                             const std::vector<CpuReading>& readings) {
    const Range found = device_wait_cpu(job::JobView(timeline), 0, readings);
    return found.low == 0 && found.high == 1;
  };
  const trace::Timeline whole = many_steps();
  EXPECT_FALSE(is_unknown(whole, readings_with(1)));
  EXPECT_TRUE(is_unknown(whole, {}));
  trace::Timeline timeline = whole;
  timeline.host_calls.clear();
  EXPECT_TRUE(is_unknown(timeline, readings_with(1))) << "no call waits";
  timeline = whole;
  timeline.loaders.front().num_workers = 2;
  EXPECT_TRUE(is_unknown(timeline, readings_with(1))) << "the workers' CPU use is in it";
  timeline.loaders.clear();
  EXPECT_TRUE(is_unknown(timeline, readings_with(1))) << "perhaps it has workers";
}

}  // namespace
}  // namespace unstarve::predict
