#include "predict/capacity/capacity.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"
#include "base/units.h"
#include "predict/simulation.h"

namespace unstarve::predict {

namespace {

// What cores beyond those of the run add: some are hyperthreads, all share memory.
constexpr Range kMoreCores = {0.85, 1.0};
constexpr double kMostCores = 4096;
constexpr int kHalvings = 14;
// DistributedDataParallel sends what is ready while the backward pass, two thirds of a step, goes
// on; of what it sends, the last of its buckets comes when that pass is over.
constexpr double kHiddenPart = 2.0 / 3;
constexpr double kBucketBytes = 25 * 1024.0 * 1024.0;

/// What differs from one resampled world to the next.
struct World {
  double durations = 1;  // of the device, as a factor
  double host_cpu = 1;   // of the training thread's and the fetches' work
  double fetch_cpu = 1;
  double more_cores = 1;
};

World central(const DeviceKind& kind) {
  return {std::sqrt(kind.duration_error.low * kind.duration_error.high), 1, 1,
          (kMoreCores.low + kMoreCores.high) / 2};
}

World drawn(const DeviceKind& kind, Draw& draw) {
  World world;
  world.durations = draw.in(kind.duration_error);
  world.host_cpu = draw.in(kTrialToTrial);
  world.fetch_cpu = world.host_cpu * draw.in(kModelError);
  world.more_cores = draw.in(kMoreCores);
  return world;
}

/// What an exchange of gradients by a ring adds to a step behind the backward pass.
double exposed_exchange_s(const Placement& where, double device_s) {
  const double ranks = where.gpus;
  if (ranks < 2 || where.kind.link_bytes_per_s <= 0) return 0;
  const double latency_s =
      2 * (ranks - 1) * static_cast<double>(where.kind.link_latency_ns) / kNsPerS;
  const auto ring_s = [&](double bytes) {
    return 2 * (ranks - 1) / ranks * bytes / where.kind.link_bytes_per_s;
  };
  const double buckets = std::ceil(where.gradient_bytes / kBucketBytes);
  const double all_s = ring_s(where.gradient_bytes) + buckets * latency_s;
  const double last_s = ring_s(std::min(where.gradient_bytes, kBucketBytes)) + latency_s;
  return std::max(last_s, all_s - kHiddenPart * device_s);
}

std::vector<StepCost> costs_of(const FittedPipeline& fitted, const Placement& where,
                               const OtherLoader* other, const World& world) {
  std::vector<StepCost> costs = fitted.steps;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    StepCost& cost = costs[i];
    const double copy_s = std::min(fitted.copies_s[i], cost.device_s);
    cost.device_s =
        ((cost.device_s - copy_s) * where.kind.compute_ratio + copy_s * where.kind.copy_ratio) *
        world.durations;
    if (other != nullptr) {
      if (other->sample_cpu_s) {
        cost.fetch_cpu_s = *other->sample_cpu_s * fitted.samples;
        cost.fetch_blocked_s = 0;
      }
      cost.fetch_cpu_s += other->transport_cpu_s;
    }
    cost.fetch_cpu_s *= world.fetch_cpu;
    cost.lead_s *= world.host_cpu;
    cost.staging_s *= world.host_cpu;
    cost.host_s *= world.host_cpu;
  }
  return costs;
}

double mean_device_s(const std::vector<StepCost>& costs) {
  double sum = 0;
  for (const StepCost& cost : costs) sum += cost.device_s;
  return sum / static_cast<double>(costs.size());
}

RankOutcome outcome_in(const FittedPipeline& fitted, const Placement& where,
                       const OtherLoader* other, const World& world) {
  const std::vector<StepCost> costs = costs_of(fitted, where, other, world);
  RankModel model = fitted.model;
  if (other != nullptr) model.loader = other->loader;
  // The costs were measured with this machine's cores at work; further ones may add less.
  const double more = std::max(0.0, where.cores - fitted.model.cpu.cores);
  model.cpu.cores = where.cores - more * (1 - world.more_cores);
  model.ranks = where.gpus;
  model.exchange_s = exposed_exchange_s(where, mean_device_s(costs));
  return simulate_ranks(model, costs, kWarmUpSteps);
}

Interval90 interval_of(double value, std::vector<double> values) {
  values.push_back(value);
  return {value, std::min(value, quantile(values, 0.05)), std::max(value, quantile(values, 0.95))};
}

/// The same with batches that cost nothing and a core for each thread.
double without_waiting_s(const FittedPipeline& fitted, const Placement& where, const World& world) {
  FittedPipeline free = fitted;
  for (StepCost& cost : free.steps) cost.fetch_cpu_s = cost.fetch_blocked_s = 0;
  free.model.loader = {.workers = 1, .batches_ahead = 2};
  Placement roomy = where;
  roomy.cores = 4.0 * where.gpus;
  World no_loss = world;
  no_loss.more_cores = 1;
  return outcome_in(free, roomy, nullptr, no_loss).step_s;
}

/// The least number of cores in one world; kMostCores: none is enough.
double cores_in(const FittedPipeline& fitted, const Placement& where, double target,
                const World& world) {
  const double without_s = without_waiting_s(fitted, where, world);
  const auto au_with = [&](double cores) {
    Placement with = where;
    with.cores = cores;
    OtherLoader crew;
    crew.loader = fitted.model.loader;
    const double each = std::ceil(cores / where.gpus);
    crew.loader.workers = std::max(crew.loader.workers, static_cast<int>(std::min(each, 64.0)));
    crew.loader.batches_ahead = std::max(crew.loader.batches_ahead, 2 * crew.loader.workers);
    return without_s / outcome_in(fitted, with, &crew, world).step_s;
  };
  double low = 0.05;
  double high = 1;
  while (high < kMostCores && au_with(high) < target) {
    low = high;
    high *= 2;
  }
  if (high >= kMostCores) return kMostCores;
  for (int i = 0; i < kHalvings && high - low > 0.01 * high; ++i) {
    const double middle = std::sqrt(low * high);
    (au_with(middle) < target ? low : high) = middle;
  }
  return high;
}

}  // namespace

Forecast forecast(const FittedPipeline& fitted, const Placement& where, const OtherLoader* other,
                  const CapacityOptions& options) {
  Draw draw(options.seed);
  const World middle = central(where.kind);
  const auto step_in = [&](const World& world) {
    return outcome_in(fitted, where, other, world).step_s;
  };
  const auto au_of = [&](const World& world, double step_s) {
    return std::min(1.0, without_waiting_s(fitted, where, world) / step_s);
  };
  std::vector<double> au;
  std::vector<double> steps_s;
  for (int i = 0; i < options.resamples; ++i) {
    const World world = drawn(where.kind, draw);
    steps_s.push_back(step_in(world));
    au.push_back(au_of(world, steps_s.back()));
  }
  Forecast out;
  const double step_s = step_in(middle);
  out.au = interval_of(au_of(middle, step_s), au);
  out.step_s = interval_of(step_s, steps_s);
  out.step_without_waiting_s = without_waiting_s(fitted, where, middle);
  return out;
}

std::optional<Interval90> cores_needed(const FittedPipeline& fitted, const Placement& where,
                                       double target, const CapacityOptions& options) {
  Draw draw(options.seed);
  const double middle = cores_in(fitted, where, target, central(where.kind));
  if (middle >= kMostCores) return std::nullopt;
  std::vector<double> cores;
  for (int i = 0; i < options.resamples; ++i) {
    cores.push_back(cores_in(fitted, where, target, drawn(where.kind, draw)));
  }
  return interval_of(middle, cores);
}

int workers_needed(const FittedPipeline& fitted, const Forecast& forecast, double target) {
  double blocked_s = 0;
  for (const StepCost& cost : fitted.steps) blocked_s += cost.fetch_blocked_s;
  blocked_s /= static_cast<double>(fitted.steps.size());
  const double batch_s = fitted.fetch_cpu_s + blocked_s;
  const double every_s = forecast.step_without_waiting_s / target;
  return every_s > 0 ? std::max(1, whole_number<int>(std::ceil(batch_s / every_s))) : 1;
}

}  // namespace unstarve::predict
