#include "tune/judging/speed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "predict/verification.h"

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

bool differs(double before, double after) {
  return before > 0 && after > 0 && std::abs(after / before - 1) > kSameWork;
}

}  // namespace

predict::Speedup speedup_between(const TrialResult& before, const TrialResult& after,
                                 const TrialResult& again, bool per_sample) {
  return predict::measured_between(measurement_of(before, per_sample),
                                   measurement_of(after, per_sample),
                                   measurement_of(again, per_sample));
}

std::string in_words(const predict::Speedup& speed) {
  return fmt::format("{:.3f}x [{:.3f}..{:.3f}]", speed.speedup, speed.low, speed.high);
}

double noise_among(const std::vector<double>& mean_steps_s) {
  double squares = 0;
  for (std::size_t i = 1; i < mean_steps_s.size(); ++i) {
    const double ratio = mean_steps_s[i] / mean_steps_s[i - 1];
    const double differs = std::max(ratio, 1 / ratio) - 1;
    squares += differs * differs;
  }
  const double pairs = static_cast<double>(mean_steps_s.size()) - 1;
  return pairs > 0 ? std::sqrt(squares / pairs) : 0;
}

double steps_to_pay_off(const TrialResult& first, const TrialResult& before,
                        const TrialResult& with) {
  constexpr double kNoLonger = 1;  // seconds; starting python varies by that
  const double longer_s = with.cold_s - first.cold_s;
  const double saved_s = before.mean_step_s - with.mean_step_s;
  return longer_s > kNoLonger && saved_s > 0 ? longer_s / saved_s : 0;
}

bool is_beyond_doubt(const TrialResult& before, const TrialResult& with, double noise_ratio) {
  if (before.mean_step_s <= 0 || with.mean_step_s <= 0) return false;
  const double ratio = before.mean_step_s / with.mean_step_s;
  return std::max(ratio, 1 / ratio) > 1 + std::max(kClearly, kTimesNoise * noise_ratio);
}

bool is_slower_beyond_doubt(const TrialResult& before, const TrialResult& with,
                            double noise_ratio) {
  return with.mean_step_s > before.mean_step_s && is_beyond_doubt(before, with, noise_ratio);
}

std::string skipped_steps(const TrialResult& before, const TrialResult& with) {
  if (with.skipped_ratio <= before.skipped_ratio + kFewSkipped) return {};
  return fmt::format("gradients overflow: {:.0f} % of the steps were left out by the GradScaler",
                     100 * with.skipped_ratio);
}

double threshold(double noise_ratio) { return std::max(kWorthChanging, 1 + noise_ratio); }

std::string less_work(const TrialResult& before, const TrialResult& after, double passes_ratio) {
  if (differs(before.samples_per_step, after.samples_per_step)) {
    return fmt::format("a step holds {:.1f} samples, not {:.1f}: it is other work",
                       after.samples_per_step, before.samples_per_step);
  }
  const double passes = before.backwards_per_step * passes_ratio;
  if (differs(passes, after.backwards_per_step)) {
    return fmt::format("a step has {:.2f} backward passes, not {:.2f}: it is other work",
                       after.backwards_per_step, passes);
  }
  return {};
}

}  // namespace unstarve::tune
