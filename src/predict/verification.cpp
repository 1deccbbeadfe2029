#include "predict/verification.h"

#include <algorithm>

#include "predict/measurements.h"
#include "predict/resampling.h"

namespace unstarve::predict {

namespace {

constexpr double kSecondsPerNs = 1e-9;
constexpr int kResamples = 500;

/// The part of `span` in which at least one kernel or memset ran, as a share of it.
double compute_ratio(const trace::Timeline& timeline, const trace::Interval& span) {
  std::int64_t busy_ns = 0;
  std::int64_t covered_to_ns = span.start_ns;
  for (const trace::DeviceOp& op : timeline.device_ops) {  // sorted by start
    const bool computes =
        op.kind == trace::DeviceOpKind::kCompute || op.kind == trace::DeviceOpKind::kMemset;
    if (!computes) continue;
    const std::int64_t from_ns = std::max(op.start_ns, covered_to_ns);
    const std::int64_t to_ns = std::min(op.end_ns, span.end_ns);
    if (to_ns > from_ns) busy_ns += to_ns - from_ns;
    covered_to_ns = std::max(covered_to_ns, to_ns);
  }
  return static_cast<double>(busy_ns) / static_cast<double>(span.duration_ns());
}

}  // namespace

Result<RunMeasurement> measure_run(const trace::Timeline& timeline, std::size_t warm_up_steps) {
  const std::vector<trace::Step> steps = training_steps(timeline);
  if (steps.size() < warm_up_steps + 2) {
    return fail(ErrorCode::kNotSupported,
                "{} has {} steps; measuring needs two after {} of warm-up: let the job run longer",
                timeline.file, steps.size(), warm_up_steps);
  }
  RunMeasurement run;
  double samples = 0;
  bool samples_known = true;
  for (std::size_t i = warm_up_steps; i < steps.size(); ++i) {
    run.steps_s.push_back(static_cast<double>(steps[i].when.duration_ns()) * kSecondsPerNs);
    samples_known = samples_known && steps[i].samples.has_value();
    samples += static_cast<double>(steps[i].samples.value_or(0));
  }
  run.span = {steps[warm_up_steps].when.start_ns, steps.back().when.end_ns};
  const double span_s = static_cast<double>(run.span.duration_ns()) * kSecondsPerNs;
  run.mean_step_s = span_s / static_cast<double>(run.steps_s.size());
  if (samples_known && span_s > 0) run.samples_per_s = samples / span_s;
  if (!timeline.device_ops.empty() && run.span.duration_ns() > 0) {
    run.au = compute_ratio(timeline, run.span);
  }
  return run;
}

Speedup measured_speedup(const RunMeasurement& before, const RunMeasurement& after,
                         std::uint64_t seed) {
  Draw draw(seed);
  std::vector<double> ratios;
  ratios.reserve(kResamples);
  for (int i = 0; i < kResamples; ++i) {
    ratios.push_back(resampled_mean(before.steps_s, draw) / resampled_mean(after.steps_s, draw));
  }
  return {before.mean_step_s / after.mean_step_s, quantile(ratios, 0.05), quantile(ratios, 0.95)};
}

bool prediction_held(const Speedup& predicted, const Speedup& measured) {
  return predicted.low <= measured.speedup && measured.speedup <= predicted.high;
}

}  // namespace unstarve::predict
