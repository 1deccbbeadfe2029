#include "predict/capacity/capacity.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace unstarve::predict {
namespace {

constexpr double kFetchS = 0.2;
constexpr double kDeviceS = 0.1;

std::vector<StepCost> steps_of_one_cost(const StepCost& cost) {
  return std::vector<StepCost>(96, cost);
}

double step_s(const RankModel& model, const StepCost& cost) {
  return simulate_ranks(model, steps_of_one_cost(cost), 16).step_s;
}

RankModel ranks(int ranks, int workers, double cores) {
  RankModel model{.loader = {.workers = workers, .batches_ahead = 2 * workers},
                  .cpu = {.cores = cores}};
  model.ranks = ranks;
  model.crowding_loss = 0;
  return model;
}

TEST(RankModel, OneRankIsThePipelineModel) {
  const StepCost cost{.fetch_cpu_s = 0.3, .host_s = 0.02, .device_s = 0.1};
  const PipelineModel pipeline{.loader = {.workers = 2, .batches_ahead = 4}, .cpu = {.cores = 2}};
  EXPECT_NEAR(step_s(ranks(1, 2, 2), cost),
              simulate_mean_step_s(pipeline, steps_of_one_cost(cost), 16), 3e-3);
}

TEST(RankModel, RanksShareTheCores) {
  // 0.3 + 0.02 s of CPU for each of four ranks, on two cores.
  const StepCost cost{.fetch_cpu_s = 0.3, .host_s = 0.02, .device_s = 0.1};
  EXPECT_NEAR(step_s(ranks(4, 2, 2), cost), 4 * 0.32 / 2, 0.02);
  EXPECT_NEAR(step_s(ranks(4, 4, 64), cost), 0.1, 2e-3);
}

TEST(RankModel, ThreadsThatTakeTurnsLoseTime) {
  const StepCost cost{.fetch_cpu_s = 0.3};
  RankModel model = ranks(1, 3, 1);
  const double alone_s = step_s(model, cost);
  EXPECT_NEAR(alone_s, 0.3, 0.01);
  model.crowding_loss = 0.3;  // a third of a core each: two thirds of the loss
  EXPECT_NEAR(step_s(model, cost), alone_s / 0.8, 0.01);
}

TEST(RankModel, WithoutWorkersEachRankFetchesForItself) {
  const StepCost cost{.fetch_cpu_s = 0.3, .fetch_blocked_s = 0.1, .host_s = 0.02, .device_s = 0.1};
  EXPECT_NEAR(step_s(ranks(2, 0, 2), cost), 0.42, 1e-3);
  // All read at once: the cores are idle meanwhile.
  EXPECT_NEAR(step_s(ranks(4, 0, 2), cost), 4 * 0.32 / 2 + 0.1, 0.01);
}

TEST(RankModel, TheSlowestRankHoldsAllUp) {
  std::vector<StepCost> steps =
      steps_of_one_cost({.fetch_cpu_s = 0, .device_s = 0.1, .syncs = true});
  // One step in ten is long, at another time in each rank.
  for (std::size_t i = 0; i < steps.size(); i += 10) steps[i].device_s = 0.5;
  const double alone_s = simulate_ranks(ranks(1, 1, 8), steps, 16).step_s;
  EXPECT_NEAR(alone_s, 0.14, 5e-3);
  EXPECT_GT(simulate_ranks(ranks(2, 1, 8), steps, 16).step_s, alone_s + 0.03);
}

TEST(RankModel, AnExchangeIsAddedOnce) {
  RankModel model = ranks(2, 2, 16);
  model.exchange_s = 0.03;
  EXPECT_NEAR(step_s(model, {.fetch_cpu_s = 0.05, .device_s = 0.1}), 0.13, 1e-3);
}

TEST(RankModel, AWaitThatSpinsTakesACoreFromTheWorkers) {
  const StepCost cost{.fetch_cpu_s = 0.1, .device_s = 0.1, .syncs = true};
  RankModel model = ranks(1, 1, 1);
  const double spinning_s = step_s(model, cost);
  model.spins = false;
  EXPECT_NEAR(step_s(model, cost), 0.1, 3e-3);
  EXPECT_GT(spinning_s, 0.14);
}

/// A run whose fetches hold it up: two workers of kFetchS each behind a device of kDeviceS.
RehearsedRun starved_run(double wait_s) {
  RehearsedRun run;
  MeasuredStep step;
  step.step_s = kDeviceS + wait_s;
  step.wait_s = wait_s;
  step.sync_s = 0.9 * kDeviceS;
  step.device_s = kDeviceS;
  step.fetch_cpu_s = kFetchS;
  step.samples = 32;
  run.pipeline.steps.assign(50, step);
  run.pipeline.loader_known = run.pipeline.fetches_seen = true;
  run.pipeline.workers = 1;
  run.pipeline.batches_ahead = 2;
  run.cores = 8;
  return run;
}

TEST(FittedPipeline, SimulatingTheRunGivesTheRun) {
  const auto fitted = fit_pipeline(starved_run(0.12));
  ASSERT_TRUE(fitted) << fitted.error().message;
  EXPECT_NEAR(fitted->misfit_ratio, 0, 0.01);
  EXPECT_NEAR(fitted->fetch_cpu_s, 0.22, 0.01);  // one worker: a batch takes what a step takes
  EXPECT_EQ(fitted->model.cpu.cores, 8);
}

TEST(FittedPipeline, OtherProgramsCoresAreGivenBack) {
  RehearsedRun run = starved_run(0.3);
  run.cores = 2;
  run.cores_of_others = 1.5;  // half a core was left: fetches took twice their CPU time
  for (MeasuredStep& step : run.pipeline.steps) step.fetch_blocked_s = kFetchS;
  const auto fitted = fit_pipeline(run);
  ASSERT_TRUE(fitted);
  Placement where{.cores = 2};
  const Forecast quiet = forecast(*fitted, where, nullptr, {});
  EXPECT_LT(quiet.step_s.value, 0.6 * run.pipeline.mean_step_s());
}

TEST(FittedPipeline, AlsoWithoutWorkers) {
  RehearsedRun run = starved_run(0.8);  // twice what it takes with a core of its own
  run.cores = 2;
  run.cores_of_others = 1.5;
  run.pipeline.workers = run.pipeline.batches_ahead = 0;
  for (MeasuredStep& step : run.pipeline.steps) {
    step.fetch_cpu_s = 0.4;
    step.fetch_blocked_s = 0.4;
  }
  const auto fitted = fit_pipeline(run);
  ASSERT_TRUE(fitted);
  EXPECT_NEAR(fitted->misfit_ratio, 0, 0.01);
  const Forecast quiet = forecast(*fitted, {.cores = 2}, nullptr, {});
  EXPECT_NEAR(quiet.step_s.value, 0.4 + kDeviceS, 0.03);
}

TEST(FittedPipeline, TooFewStepsAreSaid) {
  RehearsedRun run = starved_run(0.1);
  run.pipeline.steps.resize(4);
  const auto fitted = fit_pipeline(run);
  ASSERT_FALSE(fitted);
  EXPECT_NE(fitted.error().message.find("at least 5"), std::string::npos);
}

FittedPipeline planted(int workers) {
  FittedPipeline fitted;
  fitted.steps = steps_of_one_cost({.fetch_cpu_s = kFetchS, .device_s = kDeviceS});
  fitted.copies_s.assign(fitted.steps.size(), 0);
  fitted.model = ranks(1, workers, 2);
  fitted.model.spins = false;
  fitted.samples = 32;
  fitted.fetch_cpu_s = kFetchS;
  return fitted;
}

TEST(Capacity, AuIsTheStepWithFreeBatchesByTheStep) {
  // 0.2 s of fetching a step, one worker: the device works for half of the time.
  const Forecast found = forecast(planted(1), {.cores = 2}, nullptr, {});
  EXPECT_NEAR(found.au.value, 0.5, 0.01);
  EXPECT_NEAR(found.step_without_waiting_s, kDeviceS, 1e-3);
  EXPECT_LT(found.au.low, found.au.value);
  EXPECT_GT(found.au.high, found.au.value);
  EXPECT_EQ(workers_needed(planted(1), found, 0.9), 2);  // 0.2 / (0.1 / 0.9) = 1.8
  EXPECT_EQ(workers_needed(planted(1), found, 1e300), INT32_MAX);
}

TEST(Capacity, AFasterGpuIsFedLessAndASlowerOneMore) {
  Placement faster{.kind = {.compute_ratio = 0.5}, .cores = 2};
  Placement slower{.kind = {.compute_ratio = 3}, .cores = 2};
  EXPECT_NEAR(forecast(planted(1), faster, nullptr, {}).au.value, 0.25, 0.01);
  EXPECT_GT(forecast(planted(1), slower, nullptr, {}).au.value, 0.98);
}

TEST(Capacity, CoresAreThoseThatFetchInTime) {
  // An AU of 0.9 is a batch in 0.1 / 0.9 s: 1.8 cores; four GPUs take four times as many.
  const auto single = cores_needed(planted(1), {.cores = 2}, 0.9, {.resamples = 5});
  ASSERT_TRUE(single);
  EXPECT_NEAR(single->value, 1.8, 0.15);
  EXPECT_LT(single->low, single->high);
  const auto four = cores_needed(planted(1), {.gpus = 4, .cores = 2}, 0.9, {.resamples = 5});
  ASSERT_TRUE(four);
  EXPECT_GT(four->value, 6.5);
  EXPECT_LT(four->value, 10);
}

TEST(Capacity, NoCoresHelpWhereTheTrainingThreadIsTheLimit) {
  FittedPipeline fitted = planted(1);
  fitted.model.loader.receive_s = 0.3;
  EXPECT_FALSE(cores_needed(fitted, {.cores = 2}, 0.9, {.resamples = 1}));
}

TEST(Capacity, AnotherLoaderTakesItsOwnTime) {
  OtherLoader native{.loader = {.workers = 2, .batches_ahead = 4}, .sample_cpu_s = 0.001};
  const Forecast found = forecast(planted(1), {.cores = 2}, &native, {});
  EXPECT_GT(found.au.value, 0.98);
}

TEST(Capacity, UncertainDurationsWidenTheInterval) {
  Placement sure{.kind = {.duration_error = {1, 1}}, .cores = 2};
  Placement unsure{.kind = {.duration_error = {0.8, 1.25}}, .cores = 2};
  const Interval90 narrow = forecast(planted(1), sure, nullptr, {}).au;
  const Interval90 wide = forecast(planted(1), unsure, nullptr, {}).au;
  EXPECT_GT(wide.high - wide.low, narrow.high - narrow.low);
}

TEST(Capacity, GradientsTakeTheSlowLink) {
  Placement where{.kind = {.link_bytes_per_s = 1e9}, .gpus = 2, .cores = 64, .gradient_bytes = 4e8};
  // 0.4 s over the link, two thirds of the device's 0.1 s hidden.
  const Forecast found = forecast(planted(8), where, nullptr, {.resamples = 1});
  EXPECT_NEAR(found.step_s.value, 0.1 + 0.4 - 0.067, 0.02);
}

}  // namespace
}  // namespace unstarve::predict
