#include "predict/verification.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "base/statistics.h"
#include "base/units.h"
#include "job/device_time.h"
#include "job/rank/recorded.h"
#include "predict/resampling.h"

namespace unstarve::predict {

namespace {

constexpr int kResamples = 500;

/// The part of the steps' recorded time in which a kernel or memset runs; absent where none of it
/// was recorded.
Reading<double> compute_ratio(const job::JobView& job, const job::DeviceWork& work,
                              const std::vector<trace::Step>& steps) {
  std::vector<trace::Interval> spans;
  std::int64_t all_ns = 0;
  for (const trace::Step& step : steps) {
    for (const job::RecordedPart& part : job::recorded_parts(job.rank_of(work), step.when)) {
      spans.push_back(part.when);
      all_ns += part.when.duration_ns();
    }
  }
  if (all_ns <= 0) return WhyAbsent::kNotObserved;
  job::DeviceTimeSweep sweep(std::move(spans));
  for (const std::uint32_t i : work.ops) sweep.add(job.timeline().device_ops[i]);
  return static_cast<double>(sweep.time().compute_ns) / static_cast<double>(all_ns);
}

/// Of the rank's devices, the one that computes least: the share of the steps' time in which at
/// least one kernel or memset runs.
Reading<double> least_compute_ratio(const job::JobView& job, std::size_t rank,
                                    const std::vector<trace::Step>& steps) {
  Reading<double> least = WhyAbsent::kNotObserved;
  for (const job::DeviceWork& work : job.devices()) {
    if (work.rank != rank) continue;
    const Reading<double> ratio = compute_ratio(job, work, steps);
    if (ratio && (!least || *ratio < *least)) least = ratio;
  }
  return least;
}

/// The most that a third of the steps hold: of passes over the data of two steps, one is short.
Reading<double> samples_of_full_step(const std::vector<trace::Step>& steps) {
  constexpr std::size_t kOneOf = 3;
  std::map<std::int64_t, std::size_t> steps_with;
  for (const trace::Step& step : steps) {
    if (!step.samples) return WhyAbsent::kNotObserved;
    ++steps_with[*step.samples];
  }
  for (auto held = steps_with.rbegin(); held != steps_with.rend(); ++held) {
    if (kOneOf * held->second >= steps.size()) return static_cast<double>(held->first);
  }
  return WhyAbsent::kNotObserved;
}

/// Batches that the loader gave between two times that it was iterated.
Reading<double> batches_of_pass(const trace::Timeline& timeline, const job::LoaderUse* loader) {
  if (loader == nullptr || !loader->config || loader->thinned_waits.rows > 0) {
    return WhyAbsent::kNotObserved;
  }
  std::vector<std::int64_t> begun;
  const trace::LoaderConfig& config = *loader->config;
  for (const trace::LoaderConfig& iterated : timeline.loaders) {
    if (iterated.process != config.process || iterated.id.value_or(-1) != config.id.value_or(-1)) {
      continue;
    }
    begun.push_back(iterated.made_ns);
  }
  std::sort(begun.begin(), begun.end());
  if (begun.size() < 2 || begun.front() <= 0) return WhyAbsent::kNotObserved;
  std::vector<double> batches(begun.size() - 1);
  for (const trace::LoaderWait& wait : loader->waits) {
    const auto next = std::upper_bound(begun.begin(), begun.end(), wait.when.start_ns);
    if (next == begun.begin() || next == begun.end() || !wait.samples) continue;
    ++batches[static_cast<std::size_t>(next - begun.begin() - 1)];
  }
  return median(std::move(batches));
}

}  // namespace

Result<RunMeasurement> measure_run(const job::JobView& job, std::size_t rank) {
  const job::Rank& measured = job.ranks()[rank];
  const std::vector<trace::Step> steps = measured.training_steps();
  if (steps.size() < 2) {
    return fail(ErrorCode::kNotSupported,
                "{} has {} steps, {} of them behind the warm-up and without an evaluation; "
                "measuring needs two: let the job run longer",
                job.timeline().file, measured.steps.size(), steps.size());
  }
  RunMeasurement run;
  double samples = 0;
  double all_s = 0;
  bool samples_known = true;
  for (const trace::Step& step : steps) {
    const auto step_ns = static_cast<double>(job::undisturbed_ns(measured, step.when));
    run.steps_s.push_back(step_ns * kSecondsPerNs);
    run.when.push_back(step.when);
    all_s += run.steps_s.back();
    samples_known = samples_known && step.samples.has_value();
    samples += static_cast<double>(step.samples.value_or(0));
  }
  run.span = {steps.front().when.start_ns, steps.back().when.end_ns};
  const trace::RowTotals& thinned = measured.thinned_training;
  samples_known = samples_known && thinned.sampled_rows == thinned.rows;
  samples += static_cast<double>(thinned.samples);
  all_s += static_cast<double>(thinned.ns) * kSecondsPerNs;
  run.mean_step_s = all_s / (static_cast<double>(steps.size()) + static_cast<double>(thinned.rows));
  if (samples_known && all_s > 0) run.samples_per_s = samples / all_s;
  run.samples_of_full_step = samples_of_full_step(steps);
  run.steps_of_pass = batches_of_pass(job.timeline(), measured.training_loader());
  run.au = least_compute_ratio(job, rank, steps);
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

Speedup paired_speedup(const std::vector<double>& before_s, const std::vector<double>& after_s,
                       std::uint64_t seed) {
  Draw draw(seed);
  const auto ratio = [&](auto next) {
    double before = 0, after = 0;
    for (std::size_t i = 0; i < before_s.size(); ++i) {
      const std::size_t at = next(i);
      before += before_s[at];
      after += after_s[at];
    }
    return before / after;
  };
  std::vector<double> ratios;
  ratios.reserve(kResamples);
  for (int i = 0; i < kResamples; ++i) {
    ratios.push_back(ratio([&](std::size_t) { return draw.index(before_s.size()); }));
  }
  return {ratio([](std::size_t i) { return i; }), quantile(ratios, 0.05), quantile(ratios, 0.95)};
}

Speedup of_both(const Speedup& first, const Speedup& second) {
  return {std::sqrt(first.speedup * second.speedup), std::min(first.low, second.low),
          std::max(first.high, second.high)};
}

Speedup measured_between(const RunMeasurement& before, const RunMeasurement& after,
                         const RunMeasurement& again) {
  return of_both(measured_speedup(before, after), measured_speedup(again, after));
}

bool prediction_held(const Speedup& predicted, const Speedup& measured) {
  return predicted.low <= measured.speedup && measured.speedup <= predicted.high;
}

}  // namespace unstarve::predict
