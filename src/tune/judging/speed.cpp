#include "tune/judging/speed.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/statistics.h"
#include "predict/verification.h"
#include "tune/judging/memory.h"
#include "tune/judging/same_steps.h"

namespace unstarve::tune {

namespace {

constexpr double kSameWork = 0.01;
constexpr double kClearly = 0.1;
constexpr double kTimesNoise = 4;
// A scaler begins too high and halves itself in its first steps.
constexpr double kFewSkipped = 0.1;

predict::RunMeasurement measurement_of(const TrialResult& result, bool per_sample) {
  predict::RunMeasurement run;
  const double samples = per_sample && result.samples_per_step > 0 ? result.samples_per_step : 1;
  for (const double step : result.steps_s) run.steps_s.push_back(step / samples);
  run.mean_step_s = result.mean_step_s / samples;
  return run;
}

predict::Speedup speedup_of(const TrialResult& before, const TrialResult& after, bool per_sample) {
  auto same = speedup_of_same_steps(before, after);
  if (!same) {
    return predict::measured_speedup(measurement_of(before, per_sample),
                                     measurement_of(after, per_sample));
  }
  const bool known = per_sample && before.samples_per_step > 0 && after.samples_per_step > 0;
  const double more = known ? after.samples_per_step / before.samples_per_step : 1;
  return {more * same->speedup, more * same->low, more * same->high};
}

const TrialResult& fastest_of(const std::vector<TrialResult>& runs) {
  return *std::min_element(
      runs.begin(), runs.end(),
      [](const TrialResult& a, const TrialResult& b) { return a.mean_step_s < b.mean_step_s; });
}

/// By how much the slowest of these is slower than the fastest.
double spread_of(const std::vector<double>& mean_steps_s) {
  if (mean_steps_s.empty()) return 0;
  const auto [least, most] = std::minmax_element(mean_steps_s.begin(), mean_steps_s.end());
  return *most / *least - 1;
}

bool differs(double before, double after, double allowed = kSameWork) {
  return before > 0 && after > 0 && std::abs(after / before - 1) > allowed;
}

/// Of means: an epoch's last step may hold a single sample, and lie in one run and not in the
/// other.
double same_samples(const TrialResult& before, const TrialResult& after) {
  if (before.full_step_samples > 0 && after.full_step_samples > 0) return kSameWork;
  const double steps = std::min(timed_steps(before), timed_steps(after));
  return steps > 0 && !before.samples_are_rows ? std::max(kSameWork, 1 / steps) : kSameWork;
}

}  // namespace

predict::Speedup speedup_between(const TrialResult& before, const TrialResult& after,
                                 const TrialResult& again, bool per_sample) {
  return predict::of_both(speedup_of(before, after, per_sample),
                          speedup_of(again, after, per_sample));
}

predict::Speedup speedup_of_fastest(const std::vector<TrialResult>& without,
                                    const std::vector<TrialResult>& with, bool per_sample) {
  return speedup_of(fastest_of(without), fastest_of(with), per_sample);
}

double noise_among(const std::vector<double>& mean_steps_s) {
  constexpr double kDeviationOfMedian = 1.4826;  // of a normal distribution
  double squares = 0;
  std::vector<double> differences;
  for (std::size_t i = 1; i < mean_steps_s.size(); ++i) {
    const double ratio = mean_steps_s[i] / mean_steps_s[i - 1];
    differences.push_back(std::max(ratio, 1 / ratio) - 1);
    squares += differences.back() * differences.back();
  }
  if (differences.empty()) return 0;
  return std::min(std::sqrt(squares / static_cast<double>(differences.size())),
                  kDeviationOfMedian * median(differences));
}

double steps_to_pay_off(const TrialResult& first, const TrialResult& before,
                        const TrialResult& with) {
  constexpr double kNoLonger = 1;  // seconds; starting python varies by that
  const double longer_s = with.cold_s - first.cold_s;
  const double saved_s = before.mean_step_s - with.mean_step_s;
  return longer_s > kNoLonger && saved_s > 0 ? longer_s / saved_s : 0;
}

bool is_beyond_doubt(const TrialResult& before, const TrialResult& with,
                     const std::vector<double>& as_it_is_s) {
  if (before.mean_step_s <= 0 || with.mean_step_s <= 0) return false;
  const double ratio = before.mean_step_s / with.mean_step_s;
  const double by_chance =
      std::max({kClearly, kTimesNoise * noise_among(as_it_is_s), spread_of(as_it_is_s)});
  return std::max(ratio, 1 / ratio) > 1 + by_chance;
}

double samples_of_step(const TrialResult& result, const TrialResult& other) {
  const bool known = result.full_step_samples > 0 && other.full_step_samples > 0;
  return known ? result.full_step_samples : result.samples_per_step;
}

Reason skipped_steps(const TrialResult& before, const TrialResult& with) {
  if (with.skipped_ratio <= before.skipped_ratio + kFewSkipped) return {};
  return {ReasonKind::kStepsSkipped, {{"share", with.skipped_ratio}}};
}

predict::Speedup with_noise(const predict::Speedup& speed, double noise_ratio) {
  return {speed.speedup, speed.low / (1 + noise_ratio), speed.high * (1 + noise_ratio)};
}

Reason no_certain_gain(double needed) {
  constexpr double kTellsNothing = 2;
  if (needed > kTellsNothing) return {ReasonKind::kNoiseTellsNothing, {{"times", needed}}};
  return {ReasonKind::kNoCertainGain, {{"gain", needed - 1}}};
}

double threshold(double noise_ratio) { return std::max(kWorthChanging, 1 + noise_ratio); }

Reason less_work(const TrialResult& before, const TrialResult& after, double passes_ratio) {
  // Without workers, and with one, the stream is gone through once.
  const std::int64_t times = std::max<std::int64_t>(1, after.stream_workers);
  if (times != std::max<std::int64_t>(1, before.stream_workers)) {
    return {ReasonKind::kStreamRepeated, {{"workers", static_cast<double>(times)}}};
  }
  const double held = samples_of_step(after, before);
  const double expected = samples_of_step(before, after);
  if (differs(expected, held, same_samples(before, after))) {
    return {ReasonKind::kOtherSamples, {{"samples", held}, {"expected", expected}}};
  }
  const double passes = before.backwards_per_step * passes_ratio;
  if (differs(passes, after.backwards_per_step)) {
    return {ReasonKind::kOtherPasses, {{"passes", after.backwards_per_step}, {"expected", passes}}};
  }
  return {};
}

Reason goes_otherwise(const TrialResult& before, const TrialResult& with, double passes_ratio) {
  Reason why = too_much_memory(before, with);
  if (!why) why = skipped_steps(before, with);
  if (!why) why = less_work(before, with, passes_ratio);
  return why;
}

}  // namespace unstarve::tune
