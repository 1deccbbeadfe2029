#include "predict/pipeline_model.h"

#include <gtest/gtest.h>

#include <vector>

namespace unstarve::predict {
namespace {

std::vector<StepCost> same_steps(const StepCost& cost, std::size_t count = 100) {
  return std::vector<StepCost>(count, cost);
}

TEST(PipelineModel, InlineLoaderSerialisesFetchAndHost) {
  const PipelineModel model;
  const StepCost cost{.fetch_cpu_s = 0.3, .fetch_blocked_s = 0.05, .host_s = 0.02, .device_s = 0.1};
  // The device works under the next fetch, so it adds nothing.
  EXPECT_NEAR(simulate_mean_step_s(model, same_steps(cost), 10), 0.37, 1e-9);
}

TEST(PipelineModel, InlineLoaderWithSyncAddsTheDevice) {
  const PipelineModel model;
  const StepCost cost{.fetch_cpu_s = 0.3, .host_s = 0.02, .device_s = 0.1, .syncs = true};
  EXPECT_NEAR(simulate_mean_step_s(model, same_steps(cost), 10), 0.4, 1e-9);
}

TEST(PipelineModel, ADrainedDeviceWaitsForItsFirstLaunch) {
  const PipelineModel model{.loader = {.workers = 4, .batches_ahead = 8}, .cpu = {.cores = 16}};
  const StepCost cost{.fetch_cpu_s = 0.1, .lead_s = 0.004, .device_s = 0.1, .syncs = true};
  EXPECT_NEAR(simulate_mean_step_s(model, same_steps(cost), 20), 0.104, 1e-6);
}

TEST(PipelineModel, EnoughWorkersLeaveTheDevice) {
  PipelineModel model{.loader = {.workers = 4, .batches_ahead = 8}, .cpu = {.cores = 16}};
  const StepCost cost{.fetch_cpu_s = 0.3, .host_s = 0.02, .device_s = 0.1};
  EXPECT_NEAR(simulate_mean_step_s(model, same_steps(cost), 20), 0.1, 2e-3);
}

TEST(PipelineModel, WorkersShareTheCores) {
  // Two cores: 0.3 s of fetching and 0.02 s of launching per step, 0.32 s of CPU / 2 cores.
  PipelineModel model{.loader = {.workers = 2, .batches_ahead = 4}, .cpu = {.cores = 2}};
  const StepCost cost{.fetch_cpu_s = 0.3, .host_s = 0.02, .device_s = 0.1};
  EXPECT_NEAR(simulate_mean_step_s(model, same_steps(cost, 400), 20), 0.16, 4e-3);
  // Hyperthreads: the second core adds half.
  model.cpu.parallel_efficiency = 0.5;
  EXPECT_NEAR(simulate_mean_step_s(model, same_steps(cost, 400), 20), 0.32 / 1.5, 6e-3);
}

TEST(PipelineModel, BlockedTimeOverlapsAcrossWorkers) {
  // One core, but the fetch mostly waits for storage: four workers hide it, each of which computes
  // while others wait: (0.02 + 0.36) s / 4 and the launches.
  PipelineModel model{.loader = {.workers = 4, .batches_ahead = 8}, .cpu = {.cores = 1}};
  const StepCost cost{
      .fetch_cpu_s = 0.02, .fetch_blocked_s = 0.36, .host_s = 0.01, .device_s = 0.05};
  EXPECT_NEAR(simulate_mean_step_s(model, same_steps(cost, 400), 20), 0.105, 6e-3);
}

TEST(PipelineModel, LaunchBoundStepsStayLaunchBound) {
  PipelineModel model{.loader = {.workers = 2, .batches_ahead = 4}, .cpu = {.cores = 8}};
  const StepCost cost{.fetch_cpu_s = 0.05, .host_s = 0.2, .device_s = 0.1};
  EXPECT_NEAR(simulate_mean_step_s(model, same_steps(cost), 10), 0.2, 1e-6);
}

TEST(PipelineModel, TheHostRunsFourStepsAhead) {
  // Batches of 0.1 s; each eighth step keeps the device busy for 0.8 s. While it does, the host
  // makes four more batches, waits for its end, and then makes the other four.
  std::vector<StepCost> steps = same_steps({.fetch_cpu_s = 0.1}, 808);
  for (std::size_t i = 0; i < steps.size(); i += 8) steps[i].device_s = 0.8;
  EXPECT_NEAR(simulate_mean_step_s(PipelineModel{}, steps, 8), (0.8 + 4 * 0.1) / 8, 1e-3);
}

TEST(PipelineModel, AWaitThatSpinsTakesItsShareOfTheCores) {
  PipelineModel model{.loader = {.workers = 2, .batches_ahead = 4}, .cpu = {.cores = 2}};
  const StepCost cost{.fetch_cpu_s = 0.4, .host_s = 0.02, .device_s = 0.14, .syncs = true};
  const auto step_s = [&] { return simulate_mean_step_s(model, same_steps(cost, 400), 20); };
  EXPECT_NEAR(step_s(), 0.42 / 2, 4e-3);
  // For 110 of the device's 140 ms, while the host is done, three threads share two cores.
  model.cpu.device_wait_cpu = 1;
  EXPECT_NEAR(step_s(), (0.42 + 0.11 * 2 / 3) / 2, 4e-3);
  model.cpu.device_wait_cpu = 0.5;
  EXPECT_NEAR(step_s(), (0.42 + 0.11 * 0.5 * 2 / 2.5) / 2, 4e-3);
  model.cpu.cores = 3;
  model.cpu.device_wait_cpu = 1;
  EXPECT_NEAR(step_s(), 0.4 / 2, 4e-3) << "there is a core for it";
}

TEST(PipelineModel, AWaitThatSpinsLeavesTheCoresToThreadsThatMostlySleep) {
  PipelineModel model{.loader = {.workers = 8, .batches_ahead = 16}, .cpu = {.cores = 1}};
  const StepCost cost{.fetch_cpu_s = 0.12, .fetch_blocked_s = 0.5, .device_s = 0.14, .syncs = true};
  const double asleep_s = simulate_mean_step_s(model, same_steps(cost, 400), 20);
  EXPECT_NEAR(asleep_s, 0.14, 4e-3);
  model.cpu.device_wait_cpu = 1;
  EXPECT_NEAR(simulate_mean_step_s(model, same_steps(cost, 400), 20), asleep_s, 1e-6);
}

TEST(PipelineModel, SpinningDoesNotProlongTheWait) {
  PipelineModel model{.loader = {.workers = 2, .batches_ahead = 4}, .cpu = {.cores = 1}};
  const StepCost cost{.fetch_cpu_s = 0.01, .device_s = 0.14, .syncs = true};
  const double asleep_s = simulate_mean_step_s(model, same_steps(cost), 20);
  model.cpu.device_wait_cpu = 1;
  EXPECT_NEAR(simulate_mean_step_s(model, same_steps(cost), 20), asleep_s, 1e-6);
  model.loader = {};
  EXPECT_NEAR(simulate_mean_step_s(model, same_steps(cost), 20), 0.15, 1e-6);
}

}  // namespace
}  // namespace unstarve::predict
