#include "predict/capacity/fitted_pipeline.h"

#include <algorithm>
#include <cmath>

#include "predict/simulation.h"

namespace unstarve::predict {

namespace {

constexpr std::size_t kFewestSteps = 5;
constexpr int kRounds = 6;
// Fetches are fitted where they hold the run up; elsewhere they do not show in its step time.
constexpr double kHeldUpRatio = 0.05;
constexpr double kLeastFetchScale = 0.5;
constexpr double kLargestFetchScale = 2;
// Taking a batch over from a worker: unpickling, a queue, a file descriptor for each tensor.
constexpr double kReceiveS = 1e-3;
constexpr double kLeastCores = 0.05;
// A wait that is shorter than this part of the step's device time drains nothing.
constexpr double kSyncRatio = 0.1;

/// What a batch takes beside its fetch where the training thread makes it: pinning, collating.
double rest_of_wait_s(const MeasuredStep& step) {
  return std::max(0.0, step.wait_s - step.fetch_cpu_s - step.fetch_blocked_s);
}

/// Wall times of the training thread as if they were CPU times: fit() corrects that.
StepCost cost_of(const MeasuredStep& step) {
  StepCost cost;
  cost.fetch_cpu_s = step.fetch_cpu_s;
  cost.fetch_blocked_s = step.fetch_blocked_s;
  cost.staging_s = step.staging_s;
  // A staged copy lasts as long as its staging; other copies are the device's own work.
  cost.device_s = step.staging_s > 0 ? std::max(0.0, step.device_s - step.copy_s) : step.device_s;
  cost.syncs = step.sync_s > kSyncRatio * step.device_s;
  // A step that ends with a drained queue shows how long the device idles until it has work again.
  if (cost.syncs) cost.lead_s = std::max(0.0, step.step_s - step.wait_s - step.device_s);
  cost.host_s =
      std::max(0.0, step.step_s - step.wait_s - step.sync_s - cost.staging_s - cost.lead_s);
  return cost;
}

double mean_host_s(const std::vector<StepCost>& steps) {
  double sum = 0;
  for (const StepCost& step : steps) sum += step.lead_s + step.staging_s + step.host_s;
  return sum / static_cast<double>(steps.size());
}

/// The training thread does the same in each step: what differs is the machine's other work.
void level_host(std::vector<StepCost>& steps) {
  StepCost mean;
  for (const StepCost& step : steps) {
    mean.lead_s += step.lead_s / static_cast<double>(steps.size());
    mean.staging_s += step.staging_s / static_cast<double>(steps.size());
    mean.host_s += step.host_s / static_cast<double>(steps.size());
  }
  for (StepCost& step : steps) {
    step.lead_s = mean.lead_s;
    step.staging_s = mean.staging_s;
    step.host_s = mean.host_s;
  }
}

void scale_host(std::vector<StepCost>& steps, double factor) {
  for (StepCost& step : steps) {
    step.lead_s *= factor;
    step.staging_s *= factor;
    step.host_s *= factor;
  }
}

class Fit {
 public:
  explicit Fit(const RehearsedRun& run) : run_(run) {
    const std::vector<MeasuredStep>& measured = run.pipeline.steps;
    double wait_s = 0;
    for (std::size_t i = 0; i < std::max(kSimulatedSteps, measured.size()); ++i) {
      const MeasuredStep& step = measured[i % measured.size()];
      out_.steps.push_back(cost_of(step));
      if (run.pipeline.workers == 0) out_.steps.back().fetch_cpu_s += rest_of_wait_s(step);
      out_.copies_s.push_back(step.staging_s > 0 ? 0 : step.copy_s);
    }
    for (const MeasuredStep& step : measured) wait_s += step.wait_s;
    held_up_ =
        wait_s / static_cast<double>(measured.size()) > kHeldUpRatio * run.pipeline.mean_step_s();
    out_.model.loader.workers = run.pipeline.workers;
    out_.model.loader.batches_ahead = run.pipeline.batches_ahead;
    level_host(out_.steps);
    // However busy others are, the job had what it used.
    const double used = run.cpu_s_per_step.value_or(0) / run.pipeline.mean_step_s();
    out_.model.cpu.cores = std::max({run.cores - run.cores_of_others, used, kLeastCores});
    out_.samples = run.pipeline.mean_samples();
  }

  FittedPipeline run() {
    const double step_s = run_.pipeline.mean_step_s();
    const bool crew = run_.pipeline.workers > 0;
    // What the training thread takes to get a batch from a worker is part of its wait.
    if (crew) out_.model.loader.receive_s = kReceiveS;
    const double measured_host_s = mean_host_s(out_.steps);
    for (int round = 0; round < kRounds; ++round) {
      fit_host(measured_host_s);
      fit_blocking();
      if (crew) add_other_cpu();
      if (held_up_) fit_fetches(step_s);
    }
    finish(step_s);
    return std::move(out_);
  }

 private:
  RankOutcome simulated() const { return simulate_ranks(out_.model, out_.steps, kWarmUpSteps); }

  /// Beside busy workers the training thread waits for a core: its CPU time is less than it seems.
  void fit_host(double measured_host_s) {
    const double seen_s = simulated().host_wall_s;
    if (seen_s <= 0) return;
    scale_host(out_.steps, std::clamp(measured_host_s / seen_s, 0.25, 4.0));
  }

  /// A worker is off the CPU while it waits for storage, and while it waits for a core.
  void fit_blocking() {
    const double seen_s = mean_blocked_s();
    const double waited_s = (simulated().fetch_stretch - 1) * run_.pipeline.mean_fetch_cpu_s();
    const double part = seen_s > 0 ? std::max(0.0, seen_s - waited_s) / seen_s : 0;
    for (std::size_t i = 0; i < out_.steps.size(); ++i) {
      const MeasuredStep& step = run_.pipeline.steps[i % run_.pipeline.steps.size()];
      out_.steps[i].fetch_blocked_s = part * step.fetch_blocked_s;
    }
  }
  double mean_blocked_s() const {
    double sum = 0;
    for (const MeasuredStep& step : run_.pipeline.steps) sum += step.fetch_blocked_s;
    return sum / static_cast<double>(run_.pipeline.steps.size());
  }

  /// CPU time of the job that is neither a fetch nor the training thread's goes to handing batches
  /// over: workers fill shared memory, a thread of the training process pins it.
  void add_other_cpu() {
    if (!run_.cpu_s_per_step) return;
    const RankOutcome now = simulated();
    const double fetch_s = run_.pipeline.mean_fetch_cpu_s();
    const double others_s = *run_.cpu_s_per_step - fetch_s - mean_host_s(out_.steps) -
                            out_.model.loader.receive_s - now.spin_cpu_s;
    const double handed_s = std::clamp(others_s, 0.0, fetch_s + mean_host_s(out_.steps));
    for (std::size_t i = 0; i < out_.steps.size(); ++i) {
      const MeasuredStep& step = run_.pipeline.steps[i % run_.pipeline.steps.size()];
      out_.steps[i].fetch_cpu_s = step.fetch_cpu_s + handed_s;
    }
  }

  void fit_fetches(double step_s) {
    double low = kLeastFetchScale;
    double high = kLargestFetchScale;
    for (int i = 0; i < 20; ++i) {
      out_.model.loader.fetch_scale = std::sqrt(low * high);
      (simulated().step_s < step_s ? low : high) = out_.model.loader.fetch_scale;
    }
  }

  void finish(double step_s) {
    for (StepCost& step : out_.steps) {
      step.fetch_cpu_s *= out_.model.loader.fetch_scale;
      out_.fetch_cpu_s += step.fetch_cpu_s / static_cast<double>(out_.steps.size());
    }
    out_.model.loader.fetch_scale = 1;
    out_.host_cpu_s = mean_host_s(out_.steps) + out_.model.loader.receive_s;
    out_.misfit_ratio = simulated().step_s / step_s - 1;
    out_.model.cpu.cores = run_.cores;
  }

  const RehearsedRun& run_;
  FittedPipeline out_;
  bool held_up_ = false;
};

}  // namespace

Result<FittedPipeline> fit_pipeline(const RehearsedRun& run) {
  const PipelineMeasurements& pipeline = run.pipeline;
  if (pipeline.steps.size() < kFewestSteps) {
    return fail(ErrorCode::kNotSupported,
                "a rehearsal needs at least {} training steps behind the warm-up; the job made {}: "
                "give it more time",
                kFewestSteps, pipeline.steps.size());
  }
  if (!pipeline.loader_known || (pipeline.workers > 0 && !pipeline.fetches_seen)) {
    return fail(ErrorCode::kNotSupported,
                "a rehearsal needs to know what the job's loader takes to make a batch; what was "
                "seen of it does not tell");
  }
  return Fit(run).run();
}

}  // namespace unstarve::predict
