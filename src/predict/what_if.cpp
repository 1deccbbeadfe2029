#include "predict/what_if.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/statistics.h"
#include "predict/simulation.h"

namespace unstarve::predict {

namespace {

/// What one world has of a remedy's ranges that every step of it shares.
struct Drawn {
  double freeing_s = 0;
  double blocked_scale = 1;
};

/// The cost of one measured step as the remedy makes it.
StepCost cost_of(const MeasuredStep& step, const Remedy& remedy, const Drawn& drawn) {
  StepCost cost;
  cost.fetch_cpu_s = step.fetch_cpu_s;
  cost.fetch_blocked_s = drawn.blocked_scale * step.fetch_blocked_s;
  cost.staging_s = step.staging_s;
  // A staged copy lasts as long as its staging; other copies are the device's own work.
  cost.device_s = step.staging_s > 0 ? std::max(0.0, step.device_s - step.copy_s) : step.device_s;
  // A wait shorter than a tenth of the step's device time drains nothing worth modelling.
  cost.syncs = step.sync_s > 0.1 * step.device_s;
  // A step that ends with a drained queue shows how long the device idles until it has work again.
  if (cost.syncs) cost.lead_s = std::max(0.0, step.step_s - step.wait_s - step.device_s);
  cost.host_s =
      std::max(0.0, step.step_s - step.wait_s - step.sync_s - cost.staging_s - cost.lead_s);
  // The loop lets go of a batch when it has the next one: before the step's first launch.
  double& frees = cost.syncs ? cost.lead_s : cost.host_s;
  if (step.staging_s > 0) frees = std::max(0.0, frees - drawn.freeing_s);
  if (remedy.sample_cpu_s) {
    cost.fetch_cpu_s = *remedy.sample_cpu_s * step.samples;
    cost.fetch_blocked_s = drawn.blocked_scale * remedy.sample_blocked_s * step.samples;
  }
  cost.fetch_cpu_s += remedy.transport_cpu_s;
  cost.staging_s *= remedy.batch_bytes_ratio;
  if (step.staging_s == 0) cost.device_s -= (1 - remedy.batch_bytes_ratio) * step.copy_s;
  return cost;
}

/// The mean step time that nothing about loading can undercut.
double critical_path_s(const std::vector<StepCost>& costs) {
  double device_s = 0;
  double host_s = 0;
  for (const StepCost& cost : costs) {
    device_s += cost.staging_s + cost.device_s;
    host_s += cost.lead_s + cost.staging_s + cost.host_s;
  }
  return std::max(device_s, host_s) / static_cast<double>(costs.size());
}

PipelineModel draw_model(const PipelineMeasurements& before, const Remedy& remedy,
                         const MachineFacts& machine, Draw& draw) {
  PipelineModel model;
  model.loader = remedy.loader;
  model.loader.receive_s += draw.in(remedy.receive_more_s);
  model.cpu.cores = machine.cores;
  model.cpu.host_slowdown = draw.in(machine.host_slowdown);
  model.cpu.device_wait_cpu = draw.in(before.device_wait_cpu);
  if (!remedy.crew) {
    model.loader.fetch_scale *= draw.in(remedy.fetch_scale);
    model.cpu.parallel_efficiency = draw.in(machine.parallel_efficiency);
    return model;
  }
  const MeasuredWorkers& crew = *remedy.crew;
  model.cpu.parallel_efficiency = draw.in(crew.parallel_efficiency);
  const double capacity = 1 + (crew.cores - 1) * model.cpu.parallel_efficiency;
  const double batch_cpu_s =
      draw.in(crew.batch_s) * capacity / crew.workers - crew.consumer_cpu_s + crew.pinning_cpu_s;
  model.loader.fetch_scale =
      draw.in(kTrialToTrial)*std::max(batch_cpu_s, 0.0) / std::max(before.mean_fetch_cpu_s(), 1e-9);
  return model;
}

/// The same machine with the loader that the job has.
PipelineModel as_it_is(PipelineModel model, const PipelineMeasurements& before) {
  model.loader.workers = before.workers;
  model.loader.batches_ahead = before.batches_ahead;
  model.loader.fetch_scale = 1;
  return model;
}

/// One resampled world: the same steps before and after.
double speedup_once(const PipelineMeasurements& before, const Remedy& remedy,
                    const MachineFacts& machine, Draw& draw) {
  std::vector<StepCost> costs;
  costs.reserve(kSimulatedSteps);
  double before_s = 0;
  // The measured mean is as uncertain as its number of steps makes it, so it is resampled with
  // that number; the simulated run draws from the same steps.
  for (std::size_t i = 0; i < before.steps.size(); ++i) {
    before_s += before.steps[draw.index(before.steps.size())].step_s;
  }
  before_s /= static_cast<double>(before.steps.size());
  const double freeing_s = draw.in(remedy.freeing_s);
  const bool is_sure = remedy.blocked_scale.low == remedy.blocked_scale.high;
  const Drawn drawn = {freeing_s, is_sure ? 1 : draw.in(remedy.blocked_scale)};
  for (std::size_t i = 0; i < kSimulatedSteps; ++i) {
    costs.push_back(cost_of(before.steps[draw.index(before.steps.size())], remedy, drawn));
  }
  const PipelineModel model = draw_model(before, remedy, machine, draw);
  const double now_s =
      remedy.same_workers ? simulate_mean_step_s(as_it_is(model, before), costs, kWarmUpSteps) : 0;
  if (remedy.waits_less) {
    for (StepCost& cost : costs) cost.fetch_blocked_s *= model.loader.fetch_scale;
  }
  const double simulated_s = simulate_mean_step_s(model, costs, kWarmUpSteps);
  double after_s = simulated_s * draw.in(kModelError) + draw.in(remedy.start_s);
  if (remedy.same_workers) {
    after_s = before_s + (simulated_s - now_s) * draw.in(remedy.of_the_difference);
  }
  return before_s / std::max(after_s, critical_path_s(costs));
}

}  // namespace

Remedy native_loader(int threads, int batches_ahead, double sample_cpu_s,
                     double batch_bytes_ratio) {
  Remedy remedy;
  remedy.loader.workers = threads;
  remedy.loader.batches_ahead = std::max(batches_ahead, threads);
  remedy.loader.receive_s = 1e-4;
  remedy.sample_cpu_s = sample_cpu_s;
  remedy.fetch_scale = {0.95, 1.2};
  remedy.batch_bytes_ratio = batch_bytes_ratio;
  return remedy;
}

Result<Speedup> predict_speedup(const PipelineMeasurements& before, const Remedy& remedy,
                                const WhatIfOptions& options) {
  if (before.steps.empty()) {
    return fail(ErrorCode::kNotSupported, "a prediction needs at least one measured step");
  }
  const bool fetch_is_wait = before.loader_known && before.workers == 0;
  if (!before.fetches_seen && !fetch_is_wait && !remedy.sample_cpu_s) {
    return fail(ErrorCode::kNotSupported,
                "a prediction needs the time that one batch takes to fetch; the recording has no "
                "fetches, and waits for a loader with workers do not tell");
  }
  if (remedy.sample_cpu_s && before.mean_samples() <= 0) {
    return fail(ErrorCode::kNotSupported,
                "a prediction needs the number of samples in a batch, and none was recorded");
  }
  Draw draw(options.seed);
  std::vector<double> speedups;
  speedups.reserve(static_cast<std::size_t>(options.resamples));
  for (int i = 0; i < options.resamples; ++i) {
    speedups.push_back(speedup_once(before, remedy, options.machine, draw));
  }
  return Speedup{quantile(speedups, 0.5), quantile(speedups, 0.05), quantile(speedups, 0.95)};
}

}  // namespace unstarve::predict
