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
  // A fetch may take 0.85 times its CPU in a worker; its 0.4 s and 30 ms of launches share the
  // cores.
  EXPECT_LT(speedup->high, 1.06 * 2 * 0.4295 / (0.85 * 0.3995 + 0.03));
  EXPECT_LE(speedup->low, speedup->speedup);
  EXPECT_LE(speedup->speedup, speedup->high);
}

/// Two workers that take `beside_s` for a batch which one alone makes in `alone_s` of CPU.
CalibrationText calibrated(double alone_s, double beside_s) {
  WorkerCalibration found;
  found.loader_id = 3;
  found.samples = 128;
  found.one = {.workers = 1,
               .batches = 6,
               .cpu = {alone_s, 0.002},
               .wall = {alone_s, 0.002},
               .receive = {0.001, 0}};
  found.many = {.workers = 2,
                .batches = 12,
                .cpu = {beside_s, 0.002},
                .wall = {beside_s, 0.002},
                .receive = {0.001, 0}};
  return {.measured = found, .refused = ""};
}

PipelineMeasurements starving_for_loader_3() {
  PipelineMeasurements pipeline = starving();
  pipeline.loader_id = 3;
  return pipeline;
}

double step_with(const CalibrationText& calibration, double samples = 128) {
  PipelineMeasurements pipeline = starving_for_loader_3();
  for (MeasuredStep& step : pipeline.steps) step.samples = samples;
  const Remedy remedy = more_workers({2, 2, 0, 2}, pipeline, calibration);
  EXPECT_EQ(remedy.lacks, "");
  const auto speedup = predict_speedup(pipeline, remedy, two_cores());
  return speedup ? pipeline.mean_step_s() / speedup->speedup : 0;
}

TEST(WhatIf, WorkersTakeWhatTheCalibrationMeasured) {
  // On two cores 30 ms of the training thread, 1 ms of receiving and the batch share two cores.
  EXPECT_NEAR(step_with(calibrated(0.4, 0.4)), 0.431 / 2, 0.012);
  // A batch may cost less in a worker than it did in the training process.
  EXPECT_NEAR(step_with(calibrated(0.3, 0.3)), 0.331 / 2, 0.012);
  // Half as many samples as were calibrated.
  EXPECT_NEAR(step_with(calibrated(0.8, 0.8), 64), 0.431 / 2, 0.012);
}

TEST(WhatIf, OneCrewTellsOfAnyNumberOfWorkers) {
  PipelineMeasurements pipeline = starving_for_loader_3();
  const auto step_s = [&](int workers, double cores, const CalibrationText& found) {
    WhatIfOptions options = two_cores();
    options.machine.cores = cores;
    const Remedy remedy = more_workers({workers, 2, 0, cores}, pipeline, found);
    EXPECT_EQ(remedy.lacks, "");
    const auto speedup = predict_speedup(pipeline, remedy, options);
    return speedup ? pipeline.mean_step_s() / speedup->speedup : 0;
  };
  // Two of eight cores were tried, and neither was slower for the other.
  EXPECT_NEAR(step_s(2, 8, calibrated(0.5, 0.5)), 0.25, 0.012);
  EXPECT_NEAR(step_s(3, 8, calibrated(0.5, 0.5)), 0.5 / 3, 0.01);
  // The second core added half a core: four add one and a half to the first.
  EXPECT_NEAR(step_s(4, 8, calibrated(0.5, 0.5 * 2 / 1.5)), 0.5 / 2.5, 0.02);
  // A crew of eight that shared two cores took four times as long.
  CalibrationText crowded = calibrated(0.4, 1.6);
  crowded.measured->many.workers = 8;
  EXPECT_NEAR(step_s(2, 2, crowded), 0.431 / 2, 0.012);
}

TEST(WhatIf, ACoreThatAddsNothingIsSeenByTheCalibration) {
  EXPECT_NEAR(step_with(calibrated(0.4, 0.8)), 0.431, 0.03);
  EXPECT_NEAR(step_with(calibrated(0.4, 0.53)), 0.431 / 1.5, 0.02);
}

TEST(WhatIf, WhoTookTheMeasuredBatchesHadToShareTheCoresToo) {
  CalibrationText found = calibrated(0.4, 0.42);
  found.measured->many.cpu.mean_s = 0.4;
  found.measured->many.receive = {0.001, 0};
  found.measured->many.release = {0.019, 0};
  EXPECT_NEAR(step_with(found), 0.431 / 2, 0.012);
}

/// A batch of 32 samples waits for storage for 0.6 s and takes 30 ms of CPU; 40 ms of the rest.
PipelineMeasurements waiting_for_storage() {
  PipelineMeasurements pipeline;
  for (std::size_t i = 0; i < 40; ++i) {
    pipeline.steps.push_back({.step_s = 0.67,
                              .wait_s = 0.63,
                              .device_s = 0.03,
                              .fetch_cpu_s = 0.03,
                              .fetch_blocked_s = 0.6,
                              .samples = 32});
  }
  pipeline.fetches_seen = true;
  pipeline.loader_known = true;
  pipeline.loader_id = 3;
  return pipeline;
}

TEST(WhatIf, WorkersThatWaitForStorageTakeNoCore) {
  const PipelineMeasurements pipeline = waiting_for_storage();
  const auto step_s = [&pipeline](const Remedy& remedy) {
    const auto speedup = predict_speedup(pipeline, remedy, two_cores());
    return speedup ? pipeline.mean_step_s() / speedup->speedup : 0;
  };
  EXPECT_NEAR(step_s(more_workers({2, 2, 0, 2}, pipeline, {})), 0.63 / 2, 0.02);
  const Remedy eight = more_workers({8, 2, 0, 2}, pipeline, {});
  // Storage may answer more requests a little later each.
  EXPECT_NEAR(step_s(eight), (0.03 + 1.125 * 0.6) / 8, 0.01);
  EXPECT_NE(eight.lacks.find("how storage answers 8 requests at a time"), std::string::npos);
  const auto range = predict_speedup(pipeline, eight, two_cores());
  ASSERT_TRUE(range);
  EXPECT_GT(range->low, 1);
  EXPECT_GT(range->high / range->low, 1.1) << "the range says that it is not known";
}

TEST(WhatIf, ACrewThatWaitedForStorageTellsTheCpuTimeOfABatch) {
  const PipelineMeasurements pipeline = waiting_for_storage();
  CalibrationText found = calibrated(0.06, 0.06);  // twice what the fetches took before
  found.measured->samples = 32;
  found.measured->one.wall = {0.66, 0.02};
  found.measured->many.wall = {0.64, 0.02};
  Remedy remedy = more_workers({32, 2, 0, 2}, pipeline, found);
  EXPECT_FALSE(remedy.crew) << "nobody shared a core";
  EXPECT_NEAR(remedy.fetch_scale.low, 2, 0.2);
  EXPECT_NEAR(remedy.fetch_scale.high, 2, 0.2);
  const auto speedup = predict_speedup(pipeline, remedy, two_cores());
  ASSERT_TRUE(speedup);
  // Both cores are busy: 60 ms of each batch and 40 ms of the training thread.
  EXPECT_NEAR(pipeline.mean_step_s() / speedup->speedup, 0.1 / 1.95, 0.01);
}

TEST(WhatIf, ALoaderWhoseThreadsWaitForStorageIsNoFasterThanThat) {
  const PipelineMeasurements pipeline = waiting_for_storage();
  Remedy remedy = native_loader(2, 4, 0.0005);
  const auto unhindered = predict_speedup(pipeline, remedy, two_cores());
  remedy.sample_blocked_s = 0.6 / 32;
  const auto waiting = predict_speedup(pipeline, remedy, two_cores());
  ASSERT_TRUE(unhindered && waiting);
  EXPECT_GT(unhindered->speedup, 8);
  EXPECT_LT(waiting->speedup, 2.3);
}

TEST(WhatIf, ACalibrationIsSurerThanAGuess) {
  const PipelineMeasurements pipeline = starving_for_loader_3();
  const auto measured = predict_speedup(
      pipeline, more_workers({2, 2, 8e7, 2}, pipeline, calibrated(0.4, 0.4)), two_cores());
  const auto guessed = predict_speedup(pipeline, more_workers(2, 2, 8e7), two_cores());
  ASSERT_TRUE(measured.has_value() && guessed.has_value());
  EXPECT_LT(measured->high - measured->low, 0.8 * (guessed->high - guessed->low));
}

TEST(WhatIf, WorkersThatThereAreTellWhatAnotherOnesBatchesTakeOnTheirWay) {
  PipelineMeasurements pipeline = starving();
  pipeline.workers = 1;
  const WorkerPlacement many_tensors = {
      .workers = 2, .prefetch_factor = 2, .batch_bytes = 0, .cores = 2, .tensors = 40};
  const auto unknown =
      predict_speedup(pipeline, more_workers(many_tensors, pipeline, {}), two_cores());
  pipeline.handover_s = {0, 0.003};
  const auto known =
      predict_speedup(pipeline, more_workers(many_tensors, pipeline, {}), two_cores());
  ASSERT_TRUE(unknown.has_value() && known.has_value());
  EXPECT_GT(known->speedup, 1.05 * unknown->speedup) << "40 tensors were taken for 50 ms";
  EXPECT_LT(known->high - known->low, unknown->high - unknown->low);
}

TEST(WhatIf, WorkersNameWhatTheirPredictionLacks) {
  const auto lacks = [](const WorkerPlacement& placement, const CalibrationText& calibration) {
    return more_workers(placement, starving_for_loader_3(), calibration).lacks;
  };
  const auto says = [](const std::string& text, const char* words) {
    return text.find(words) != std::string::npos;
  };
  EXPECT_EQ(lacks({2, 2, 0, 2}, calibrated(0.4, 0.4)), "");
  EXPECT_TRUE(says(lacks({2, 2, 0, 2}, {}), "only trials"));
  EXPECT_TRUE(says(lacks({2, 2, 0, 2}, {.measured = {}, .refused = "no room"}), "(no room)"));
  CalibrationText alone = calibrated(0.4, 0.4);
  alone.measured->many = alone.measured->one;
  EXPECT_TRUE(says(lacks({2, 2, 0, 2}, alone), "second core"));
  EXPECT_EQ(lacks({2, 2, 0, 1}, alone), "");
  CalibrationText other = calibrated(0.4, 0.4);
  other.measured->loader_id = 4;
  EXPECT_TRUE(says(lacks({2, 2, 0, 2}, other), "another loader"));
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

TEST(WhatIf, WhoPageLocksBatchesSharesTheCores) {
  PipelineMeasurements pipeline = starving_for_loader_3();
  const auto step_s = [&pipeline] {
    const Remedy remedy = more_workers({2, 2, 0, 2}, pipeline, calibrated(0.4, 0.4));
    const auto speedup = predict_speedup(pipeline, remedy, two_cores());
    return speedup ? pipeline.mean_step_s() / speedup->speedup : 0;
  };
  const double pageable_s = step_s();
  pipeline.pinning_s = 0.02;
  EXPECT_NEAR(step_s() - pageable_s, 0.02 / 2, 0.002);
}

/// Two cores, a training thread of 20 ms a step, and workers whose batches take `fetch_s`.
PipelineMeasurements with_workers(int workers, const std::vector<double>& fetch_s) {
  PipelineMeasurements pipeline;
  for (std::size_t i = 0; i < 80; ++i) {
    pipeline.steps.push_back({.step_s = 0.1,
                              .wait_s = 0.05,
                              .device_s = 0.01,
                              .fetch_cpu_s = fetch_s[i % fetch_s.size()],
                              .samples = 32});
  }
  pipeline.fetches_seen = pipeline.loader_known = true;
  pipeline.workers = workers;
  pipeline.batches_ahead = 2 * workers;
  pipeline.device_wait_cpu = {0, 0};
  return pipeline;
}

TEST(WhatIf, ALongerQueueHelpsWhereBatchesDiffer) {
  const auto gain = [](const std::vector<double>& fetch_s) {
    return *predict_speedup(with_workers(1, fetch_s), longer_queue(1, 8), two_cores());
  };
  // In the mean 40 ms, beside 50 ms of the training thread: six quick ones and two slow ones.
  const Speedup uneven = gain({0.005, 0.005, 0.005, 0.005, 0.005, 0.005, 0.145, 0.145});
  EXPECT_GT(uneven.low, 1.0);
  EXPECT_GT(uneven.speedup, 1.01);
  EXPECT_NEAR(gain({0.04}).speedup, 1, 0.005);
  EXPECT_NEAR(gain({0.09}).speedup, 1, 0.01) << "the worker cannot keep up";
}

TEST(WhatIf, WaitsThatSpinTakeFromTheWorkers) {
  PipelineMeasurements pipeline = starving_for_loader_3();
  for (MeasuredStep& step : pipeline.steps) {
    step.step_s += 0.12;  // it reads the loss: 20 ms of launches, then it waits
    step.sync_s = 0.12;
  }
  const Remedy remedy = more_workers({2, 2, 0, 2}, pipeline, calibrated(0.4, 0.4));
  const auto predicted = [&](Range device_wait_cpu) {
    pipeline.device_wait_cpu = device_wait_cpu;
    return predict_speedup(pipeline, remedy, two_cores()).value_or(Speedup{});
  };
  const Speedup asleep = predicted({0, 0});
  const Speedup spinning = predicted({1, 1});
  const Speedup unknown = predicted({0, 1});
  const double mean_s = pipeline.mean_step_s();
  // Of the device's 130 ms beside the staged copy, the host is at work for 15: 10 ms of a core that
  // it shares. Of the others, the wait takes two thirds of a core.
  EXPECT_NEAR(mean_s / spinning.speedup - mean_s / asleep.speedup, 0.115 * 2 / 3 / 2, 0.003);
  EXPECT_LT(unknown.low, asleep.low);
  EXPECT_LT(unknown.low, spinning.speedup);
  EXPECT_GT(unknown.high, spinning.high);
  EXPECT_GT(unknown.high - unknown.low, 1.1 * (spinning.high - spinning.low));
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
