#include "predict/measurements.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace unstarve::predict {

namespace {

using trace::DeviceOp;
using trace::HostCall;
using trace::Interval;

constexpr double kSecondsPerNs = 1e-9;

double seconds(std::int64_t ns) { return static_cast<double>(ns) * kSecondsPerNs; }

double overlap_s(const Interval& a, const Interval& b) {
  const std::int64_t ns = std::min(a.end_ns, b.end_ns) - std::max(a.start_ns, b.start_ns);
  return ns > 0 ? seconds(ns) : 0;
}

/// Index of the step that `t_ns` lies in, or -1. `steps` are sorted and do not overlap.
std::ptrdiff_t step_at(const std::vector<trace::Step>& steps, std::int64_t t_ns) {
  const auto after = std::upper_bound(
      steps.begin(), steps.end(), t_ns,
      [](std::int64_t t, const trace::Step& step) { return t < step.when.start_ns; });
  if (after == steps.begin()) return -1;
  const auto found = std::prev(after);
  return t_ns < found->when.end_ns ? found - steps.begin() : -1;
}

/// Length of the union of all device operations, seconds.
double busy_union_s(const std::vector<DeviceOp>& ops) {
  std::int64_t busy_ns = 0;
  std::int64_t covered_to_ns = 0;
  bool any = false;
  for (const DeviceOp& op : ops) {  // sorted by start
    const std::int64_t from_ns = any ? std::max(op.start_ns, covered_to_ns) : op.start_ns;
    if (op.end_ns > from_ns) busy_ns += op.end_ns - from_ns;
    covered_to_ns = any ? std::max(covered_to_ns, op.end_ns) : op.end_ns;
    any = true;
  }
  return seconds(busy_ns);
}

/// Fills what the device records say: device time, blocking, staging.
void add_device_side(const trace::Timeline& timeline, const std::vector<trace::Step>& steps,
                     std::vector<MeasuredStep>& measured) {
  std::unordered_map<std::int64_t, const DeviceOp*> op_of_launch;
  std::unordered_map<std::int64_t, std::int64_t> launched_at;
  double summed_s = 0;
  for (const DeviceOp& op : timeline.device_ops) {
    summed_s += seconds(op.end_ns - op.start_ns);
    if (op.correlation != trace::kNoCorrelation) op_of_launch.emplace(op.correlation, &op);
  }
  for (const HostCall& call : timeline.host_calls) {
    if (call.correlation != trace::kNoCorrelation)
      launched_at.emplace(call.correlation, call.start_ns);
    const std::ptrdiff_t at = step_at(steps, call.start_ns);
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
      measured[index].sync_s += call_s;
    }
  }
  // Streams overlap: the sum of durations is scaled to the time that at least one was running.
  const double overlap = summed_s > 0 ? busy_union_s(timeline.device_ops) / summed_s : 0;
  for (const DeviceOp& op : timeline.device_ops) {
    const auto launch = launched_at.find(op.correlation);
    const std::ptrdiff_t at =
        step_at(steps, launch == launched_at.end() ? op.start_ns : launch->second);
    if (at < 0) continue;
    MeasuredStep& step = measured[static_cast<std::size_t>(at)];
    const double op_s = seconds(op.end_ns - op.start_ns) * overlap;
    step.device_s += op_s;
    const bool to_device = op.kind == trace::DeviceOpKind::kCopy &&
                           op.direction == trace::CopyDirection::kHostToDevice;
    if (to_device) step.copy_s += op_s;
  }
}

void add_waits(const trace::Timeline& timeline, const std::vector<trace::Step>& steps,
               std::vector<MeasuredStep>& measured) {
  for (const trace::LoaderWait& wait : timeline.loader_waits) {
    for (std::ptrdiff_t at = std::max<std::ptrdiff_t>(step_at(steps, wait.when.start_ns), 0);
         at < static_cast<std::ptrdiff_t>(steps.size()); ++at) {
      const auto index = static_cast<std::size_t>(at);
      if (steps[index].when.start_ns >= wait.when.end_ns) break;
      if (wait.process != steps[index].process) continue;
      measured[index].wait_s += overlap_s(wait.when, steps[index].when);
      if (wait.samples) measured[index].samples = static_cast<double>(*wait.samples);
    }
  }
}

/// Gives each step the cost of one batch: recorded fetches in order, or what the training thread
/// itself spent in a loader without workers.
void add_fetches(const trace::Timeline& timeline, PipelineMeasurements& pipeline) {
  std::vector<trace::Fetch> fetches;
  for (const trace::Fetch& fetch : timeline.fetches) {
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

}  // namespace

std::vector<trace::Step> training_steps(const trace::Timeline& timeline) {
  std::unordered_map<std::int64_t, std::size_t> per_process;
  for (const trace::Step& step : timeline.steps) ++per_process[step.process];
  std::int64_t process = 0;
  std::size_t most = 0;
  for (const trace::Step& step : timeline.steps) {
    if (per_process[step.process] > most) {
      most = per_process[step.process];
      process = step.process;
    }
  }
  std::vector<trace::Step> steps;
  for (const trace::Step& step : timeline.steps) {
    if (step.process == process) steps.push_back(step);
  }
  return steps;
}

double PipelineMeasurements::mean_step_s() const {
  double sum = 0;
  for (const MeasuredStep& step : steps) sum += step.step_s;
  return steps.empty() ? 0 : sum / static_cast<double>(steps.size());
}

double PipelineMeasurements::mean_samples() const {
  double sum = 0;
  for (const MeasuredStep& step : steps) sum += step.samples;
  return steps.empty() ? 0 : sum / static_cast<double>(steps.size());
}

Result<PipelineMeasurements> measure_pipeline(const trace::Timeline& timeline,
                                              const MeasureOptions& options) {
  const std::vector<trace::Step> all_steps = training_steps(timeline);
  if (all_steps.size() <= options.warm_up_steps) {
    return fail(ErrorCode::kNotSupported,
                "a prediction needs steps: {} has {} and the first {} are warm-up", timeline.file,
                all_steps.size(), options.warm_up_steps);
  }
  if (timeline.loader_waits.empty()) {
    return fail(ErrorCode::kNotSupported,
                "a prediction needs the loader's waits, and {} records none", timeline.file);
  }
  if (timeline.device_ops.empty() && !options.device_busy_ratio) {
    return fail(ErrorCode::kNotSupported,
                "a prediction needs the device's busy time, and {} records none", timeline.file);
  }
  const std::vector<trace::Step> steps(
      all_steps.begin() + static_cast<std::ptrdiff_t>(options.warm_up_steps), all_steps.end());

  PipelineMeasurements pipeline;
  pipeline.steps.resize(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    pipeline.steps[i].step_s = seconds(steps[i].when.duration_ns());
    if (steps[i].samples) pipeline.steps[i].samples = static_cast<double>(*steps[i].samples);
  }
  add_waits(timeline, steps, pipeline.steps);
  if (!timeline.device_ops.empty()) {
    add_device_side(timeline, steps, pipeline.steps);
  } else {
    for (MeasuredStep& step : pipeline.steps) {
      step.device_s = step.step_s * *options.device_busy_ratio;
    }
  }
  pipeline.loader_known = !timeline.loaders.empty();
  if (pipeline.loader_known) {
    const trace::LoaderConfig& loader = timeline.loaders.back();
    pipeline.workers = static_cast<int>(std::clamp<std::int64_t>(loader.num_workers, 0, 1024));
    const std::int64_t prefetch =
        std::clamp<std::int64_t>(loader.prefetch_factor.value_or(2), 1, 1024);
    pipeline.batches_ahead = pipeline.workers * static_cast<int>(prefetch);
  }
  add_fetches(timeline, pipeline);
  return pipeline;
}

}  // namespace unstarve::predict
