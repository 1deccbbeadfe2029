#include "predict/measurements.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/statistics.h"
#include "base/units.h"
#include "job/device_time.h"
#include "job/rank/recorded.h"
#include "job/rank/step_phase.h"

namespace unstarve::predict {

namespace {

using trace::DeviceOp;
using trace::HostCall;
using trace::Interval;

double seconds(std::int64_t ns) { return static_cast<double>(ns) * kSecondsPerNs; }

double overlap_s(const Interval& a, const Interval& b) {
  const std::int64_t ns = std::min(a.end_ns, b.end_ns) - std::max(a.start_ns, b.start_ns);
  return ns > 0 ? seconds(ns) : 0;
}

/// Time in which a device runs something, of the sum of its operations' durations: streams overlap.
double overlap_of(const trace::Timeline& timeline, const std::vector<std::uint32_t>& ops) {
  std::int64_t summed_ns = 0;
  Interval everything = {std::numeric_limits<std::int64_t>::max(),
                         std::numeric_limits<std::int64_t>::min()};
  for (const std::uint32_t i : ops) {
    const DeviceOp& op = timeline.device_ops[i];
    summed_ns += op.end_ns - op.start_ns;
    everything.start_ns = std::min(everything.start_ns, op.start_ns);
    everything.end_ns = std::max(everything.end_ns, op.end_ns);
  }
  if (summed_ns <= 0) return 0;
  job::DeviceTimeSweep sweep(everything);
  for (const std::uint32_t i : ops) sweep.add(timeline.device_ops[i]);
  return static_cast<double>(sweep.time().busy_ns()) / static_cast<double>(summed_ns);
}

/// Operations of the rank's devices, by start.
std::vector<std::uint32_t> ops_of(const job::JobView& job, std::size_t rank) {
  std::vector<std::uint32_t> ops;
  for (const job::DeviceWork& work : job.devices()) {
    if (work.rank == rank) ops.insert(ops.end(), work.ops.begin(), work.ops.end());
  }
  std::sort(ops.begin(), ops.end());  // the Timeline's own order
  return ops;
}

/// Adds what the training thread did in calls of the device's library: blocking, staging.
void add_calls(const trace::Timeline& timeline, const std::vector<std::uint32_t>& ops,
               const std::vector<trace::Step>& steps, std::vector<MeasuredStep>& measured) {
  std::unordered_map<std::int64_t, const DeviceOp*> op_of_launch;
  for (const std::uint32_t i : ops) {
    const DeviceOp& op = timeline.device_ops[i];
    if (op.correlation != trace::kNoCorrelation) op_of_launch.emplace(op.correlation, &op);
  }
  // A wait may be seen twice: by the hook as `.item()`, and as the call of the library within it.
  std::int64_t blocked_until_ns = std::numeric_limits<std::int64_t>::min();
  for (const HostCall& call : timeline.host_calls) {
    const std::ptrdiff_t at = job::step_at(steps, call.start_ns);
    const auto index = static_cast<std::size_t>(at);
    if (at < 0 || call.process != steps[index].process) continue;
    // Only the training thread's own blocking holds the loop up; backward has a thread of its own.
    if (call.thread != steps[index].thread) continue;
    const double call_s = seconds(call.end_ns - call.start_ns);
    const auto op = op_of_launch.find(call.correlation);
    const bool copies = op != op_of_launch.end() && op->second->kind == trace::DeviceOpKind::kCopy;
    if (copies && op->second->direction == trace::CopyDirection::kHostToDevice) {
      if (op->second->source == trace::MemoryKind::kPageable) measured[index].staging_s += call_s;
    } else if (call.kind == trace::HostCallKind::kSync || copies) {
      const std::int64_t from_ns = std::max(call.start_ns, blocked_until_ns);
      measured[index].sync_s += seconds(std::max<std::int64_t>(0, call.end_ns - from_ns));
      blocked_until_ns = std::max(blocked_until_ns, call.end_ns);
    }
  }
}

/// Adds the device's time to the steps that launched its work.
void add_device_time(const job::JobView& job, const std::vector<std::uint32_t>& ops,
                     const std::vector<trace::Step>& steps, std::vector<MeasuredStep>& measured) {
  const trace::Timeline& timeline = job.timeline();
  const double overlap = overlap_of(timeline, ops);
  for (const std::uint32_t i : ops) {
    const DeviceOp& op = timeline.device_ops[i];
    const HostCall* launch = job.host().launch_of(op);
    const std::ptrdiff_t at =
        job::step_at(steps, launch == nullptr ? op.start_ns : launch->start_ns);
    if (at < 0) continue;
    MeasuredStep& step = measured[static_cast<std::size_t>(at)];
    const double op_s = seconds(op.end_ns - op.start_ns) * overlap;
    step.device_s += op_s;
    const bool to_device = op.kind == trace::DeviceOpKind::kCopy &&
                           op.direction == trace::CopyDirection::kHostToDevice;
    if (to_device) step.copy_s += op_s;
  }
}

void add_waits(const job::LoaderUse& loader, const std::vector<trace::Step>& steps,
               std::vector<MeasuredStep>& measured) {
  for (const trace::LoaderWait& wait : loader.waits) {
    const auto reached = std::partition_point(
        steps.begin(), steps.end(),
        [&wait](const trace::Step& step) { return step.when.end_ns <= wait.when.start_ns; });
    for (auto step = reached; step != steps.end(); ++step) {
      if (step->when.start_ns >= wait.when.end_ns) break;
      MeasuredStep& into = measured[static_cast<std::size_t>(step - steps.begin())];
      into.wait_s += overlap_s(wait.when, step->when);
      if (wait.samples) into.samples = static_cast<double>(*wait.samples);
    }
  }
}

/// Gives each step the cost of one batch: recorded fetches in order, or what the training thread
/// itself spent in a loader without workers.
void add_fetches(const job::LoaderUse& loader, PipelineMeasurements& pipeline) {
  std::vector<trace::Fetch> fetches;
  for (const trace::Fetch& fetch : loader.fetches) {
    if (fetch.cpu_ns) fetches.push_back(fetch);
  }
  pipeline.fetches_seen = !fetches.empty();
  for (std::size_t i = 0; i < pipeline.steps.size(); ++i) {
    MeasuredStep& step = pipeline.steps[i];
    if (!pipeline.fetches_seen) {
      step.fetch_cpu_s = step.wait_s;
      continue;
    }
    // Which fetch belongs to which step does not matter to a resampling model; the mix does.
    const trace::Fetch& fetch = fetches[i % fetches.size()];
    step.fetch_cpu_s = seconds(*fetch.cpu_ns);
    step.fetch_blocked_s = std::max(0.0, seconds(fetch.when.duration_ns()) - step.fetch_cpu_s);
    if (fetch.samples && step.samples == 0) step.samples = static_cast<double>(*fetch.samples);
  }
}

/// What remains of a loader's next() when the batch has been fetched in it.
double pinning_s(const job::LoaderUse& loader) {
  if (loader.config->num_workers != 0 || !loader.config->pin_memory.value_or(false)) return 0;
  std::vector<double> pinnings_s;
  auto fetch = loader.fetches.begin();
  for (const trace::LoaderWait& wait : loader.waits) {
    while (fetch != loader.fetches.end() && fetch->when.start_ns < wait.when.start_ns) ++fetch;
    if (fetch == loader.fetches.end()) break;
    if (fetch->when.end_ns > wait.when.end_ns) continue;
    pinnings_s.push_back(seconds(wait.when.duration_ns() - fetch->when.duration_ns()));
  }
  return pinnings_s.empty() ? 0 : quantile(std::move(pinnings_s), 0.5);
}

/// From the end of the last fetch before `wait` ended; nothing where that ended before it began.
std::optional<double> after_fetch_s(const trace::LoaderWait& wait,
                                    const std::vector<std::int64_t>& fetch_ends_ns) {
  const auto after = std::upper_bound(fetch_ends_ns.begin(), fetch_ends_ns.end(), wait.when.end_ns);
  if (after == fetch_ends_ns.begin() || *std::prev(after) < wait.when.start_ns) return {};
  return seconds(wait.when.end_ns - *std::prev(after));
}

Range handover_s(const job::LoaderUse& loader) {
  if (loader.config->num_workers == 0) return {0, 0};
  std::vector<std::int64_t> ends_ns;
  for (const trace::Fetch& fetch : loader.fetches) ends_ns.push_back(fetch.when.end_ns);
  std::sort(ends_ns.begin(), ends_ns.end());
  std::vector<double> of_ready_s;
  std::vector<double> of_late_s;
  for (const trace::LoaderWait& wait : loader.waits) {
    if (wait.ready_batches.value_or(0) > 0) {
      of_ready_s.push_back(seconds(wait.when.duration_ns()));
    } else if (const auto late_s = after_fetch_s(wait, ends_ns)) {
      of_late_s.push_back(*late_s);
    }
  }
  if (of_ready_s.empty() && of_late_s.empty()) return {0, 0};
  if (of_ready_s.size() < of_late_s.size()) return {0, quantile(std::move(of_late_s), 0.5)};
  const double ready_s = quantile(std::move(of_ready_s), 0.5);
  return {ready_s, ready_s};
}

void add_config(const job::LoaderUse& loader, PipelineMeasurements& pipeline) {
  pipeline.loader_id = loader.id;
  pipeline.loader_known = loader.config.has_value();
  if (!pipeline.loader_known) return;
  const trace::LoaderConfig& config = *loader.config;
  pipeline.pinning_s = pinning_s(loader);
  pipeline.handover_s = handover_s(loader);
  pipeline.workers = static_cast<int>(std::clamp<std::int64_t>(config.num_workers, 0, 1024));
  const std::int64_t prefetch =
      std::clamp<std::int64_t>(config.prefetch_factor.value_or(2), 1, 1024);
  pipeline.batches_ahead = pipeline.workers * static_cast<int>(prefetch);
}

/// Whether all of a step lies in one recorded part.
bool is_recorded(const job::Rank& rank, const trace::Step& step) {
  const auto parts = job::recorded_parts(rank, step.when);
  return parts.size() == 1 && parts.front().when.duration_ns() == step.when.duration_ns();
}

/// Gives steps outside of what was recorded the times of those inside, one after the other: which
/// belongs to which does not matter to a resampling model; the mix does. False: there is none.
bool fill_device_times(const job::Rank& rank, const std::vector<trace::Step>& steps,
                       PipelineMeasurements& pipeline) {
  std::vector<std::size_t> recorded;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (is_recorded(rank, steps[i])) recorded.push_back(i);
  }
  pipeline.steps_recorded = recorded.size();
  if (recorded.empty()) return false;
  std::size_t next = 0;
  for (std::size_t i = 0, turn = 0; i < steps.size(); ++i) {
    if (next < recorded.size() && recorded[next] == i) {
      ++next;
      continue;
    }
    const MeasuredStep& from = pipeline.steps[recorded[turn++ % recorded.size()]];
    MeasuredStep& into = pipeline.steps[i];
    into.device_s = from.device_s;
    into.copy_s = from.copy_s;
    into.sync_s = from.sync_s;
    into.staging_s = from.staging_s;
  }
  return true;
}

double mean_of(double MeasuredStep::*part, const std::vector<MeasuredStep>& steps) {
  double sum = 0;
  for (const MeasuredStep& step : steps) sum += step.*part;
  return steps.empty() ? 0 : sum / static_cast<double>(steps.size());
}

}  // namespace

double PipelineMeasurements::mean_step_s() const { return mean_of(&MeasuredStep::step_s, steps); }

double PipelineMeasurements::mean_samples() const { return mean_of(&MeasuredStep::samples, steps); }

double PipelineMeasurements::mean_fetch_cpu_s() const {
  return mean_of(&MeasuredStep::fetch_cpu_s, steps);
}

double PipelineMeasurements::mean_fetch_blocked_s() const {
  return mean_of(&MeasuredStep::fetch_blocked_s, steps);
}

Result<PipelineMeasurements> measure_pipeline(const job::JobView& job, std::size_t rank,
                                              const MeasureOptions& options) {
  const trace::Timeline& timeline = job.timeline();
  const job::Rank& measured = job.ranks()[rank];
  const std::vector<trace::Step> steps = measured.training_steps();
  if (steps.empty()) {
    return fail(ErrorCode::kNotSupported,
                "a prediction needs steps in which the job trains: {} has {} in all, and they are "
                "warm-up or hold an evaluation",
                timeline.file, measured.steps.size());
  }
  const job::LoaderUse* loader = measured.training_loader();
  if (loader == nullptr || loader->waits.empty()) {
    return fail(ErrorCode::kNotSupported,
                "a prediction needs the loader's waits, and {} records none", timeline.file);
  }
  if (measured.waited_loader()->feeds_training != loader->feeds_training) {
    return fail(ErrorCode::kNotSupported,
                "gains are predicted for the loader that feeds the training, and {} waits more for "
                "another, of an evaluation",
                timeline.file);
  }
  if (job.devices().empty() && !options.device_busy_ratio) {
    return fail(ErrorCode::kNotSupported,
                "a prediction needs the device's busy time, and {} records none", timeline.file);
  }
  PipelineMeasurements pipeline;
  pipeline.steps.resize(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    pipeline.steps[i].step_s = seconds(job::undisturbed_ns(measured, steps[i].when));
    if (steps[i].samples) pipeline.steps[i].samples = static_cast<double>(*steps[i].samples);
  }
  for (auto use = measured.loaders.rbegin(); use != measured.loaders.rend(); ++use) {
    if (use->feeds_training) add_waits(*use, steps, pipeline.steps);
  }
  if (!job.devices().empty()) {
    const std::vector<std::uint32_t> ops = ops_of(job, rank);
    add_calls(timeline, ops, steps, pipeline.steps);
    add_device_time(job, ops, steps, pipeline.steps);
    if (!fill_device_times(measured, steps, pipeline)) {
      return fail(ErrorCode::kNotSupported,
                  "a prediction needs a whole step in the time in which the device was recorded, "
                  "and {} has none",
                  timeline.file);
    }
  } else {
    for (MeasuredStep& step : pipeline.steps) {
      step.device_s = step.step_s * *options.device_busy_ratio;
    }
  }
  add_config(*loader, pipeline);
  add_fetches(*loader, pipeline);
  pipeline.device_wait_cpu = device_wait_cpu(job, rank, options.job_cpu);
  return pipeline;
}

}  // namespace unstarve::predict
