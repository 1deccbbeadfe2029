#include "tune/trial_runner.h"

#include <fmt/format.h>

#include <algorithm>

#include "tune/judging/speed.h"

namespace unstarve::tune {

namespace {

constexpr double kFirstStepTimes = 10;  // as long as the first step of the job as it is
constexpr double kFirstStepAtLeastS = 60;
constexpr double kFewestParitySteps = 20;
constexpr double kMostParitySteps = 200;
constexpr std::size_t kRunsThatShowNoise = 3;

TrialRequest once_more(TrialRequest request) {
  request.label += ".2";
  return request;
}

}  // namespace

Result<TrialResult> TrialRunner::make(TrialRequest request) {
  ++result_.trials;
  if (result_.baseline.cold_s > 0) {
    request.first_step_within_s = std::max({request.first_step_within_s, kFirstStepAtLeastS,
                                            kFirstStepTimes * result_.baseline.cold_s});
  }
  if (request.parity_seed >= 0 && request.parity_steps == 0) {
    request.parity_steps = parity_steps();
  }
  if (request.parity_seed >= 0) request.baseline_step_s = result_.baseline.mean_step_s;
  listener_.begins(request, result_.trials);
  auto made = trials_.run(request);
  if (made) {
    made->label = request.label;
    listener_.ended(request, *made);
    note_speed(request, *made);
  }
  return made;
}

void TrialRunner::note_speed(const TrialRequest& request, const TrialResult& made) {
  const bool is_whole = made.ending == Ending::kMeasured && !made.given_up;
  const bool is_the_job =
      request.parity_seed < 0 && !request.first_batch_again && !request.as_written;
  if (!is_whole || !is_the_job) return;
  mean_steps_s_[{request.levers.begin(), request.levers.end()}].push_back(made.mean_step_s);
}

std::optional<double> TrialRunner::noise_with(const std::vector<std::string>& levers) const {
  if (levers.empty()) return result_.noise_ratio;
  const auto runs = mean_steps_s_.find({levers.begin(), levers.end()});
  if (runs == mean_steps_s_.end() || runs->second.size() < kRunsThatShowNoise) return std::nullopt;
  return noise_among(runs->second);
}

int TrialRunner::parity_steps() const {
  if (options_.parity_steps > 0) return options_.parity_steps;
  const double fit = 2 * options_.trial_seconds / result_.baseline.mean_step_s;
  return static_cast<int>(std::clamp(fit, kFewestParitySteps, kMostParitySteps));
}

Result<TrialResult> TrialRunner::make(const std::string& label,
                                      const std::vector<std::string>& levers, bool until_known) {
  return make(request_for(label, levers, until_known));
}

TrialRequest TrialRunner::request_for(const std::string& label,
                                      const std::vector<std::string>& levers,
                                      bool until_known) const {
  TrialRequest request;
  request.label = label;
  request.levers = levers;
  request.until_known = until_known;
  if (!until_known && !levers.empty()) request.baseline_step_s = result_.baseline.mean_step_s;
  return request;
}

Result<TrialResult> TrialRunner::make_measured(const std::string& label,
                                               const std::vector<std::string>& levers,
                                               bool until_known) {
  return make_measured(request_for(label, levers, until_known));
}

Result<TrialResult> TrialRunner::make_measured(TrialRequest request) {
  const std::string label = request.label;
  const bool as_it_is = request.levers.empty();
  auto made = make(request);
  if (made && made->ending != Ending::kMeasured) {  // by chance: a port was taken
    request.label += ".retry";
    made = make(std::move(request));
  }
  if (made && made->ending != Ending::kMeasured) {
    return fail(ErrorCode::kJobFailed, "{}: {}{}{}", label, to_string(made->ending),
                made->why.empty() ? "" : ": ", made->why);
  }
  if (made && as_it_is) {
    result_.as_it_is_s.push_back(made->mean_step_s);
    result_.noise_ratio = noise_among(result_.as_it_is_s);
  }
  return made;
}

bool TrialRunner::is_beyond_doubt(const TrialResult& first, const TrialResult& other) const {
  return tune::is_beyond_doubt(first, other, result_.as_it_is_s);
}

Result<Compared> TrialRunner::compare(const Comparison& comparison, const TrialResult& before,
                                      TrialResult& with, TrialResult& again) {
  auto compared = compare_once_more_if_in_doubt(comparison, before, with, again);
  if (!compared) return compared;
  const double noise = noise_with(comparison.without.levers).value_or(result_.noise_ratio);
  compared->shown = with_noise(compared->speedup, noise);
  compared->runs = {before.label, with.label, again.label};
  return compared;
}

Result<Compared> TrialRunner::compare_once_more_if_in_doubt(const Comparison& comparison,
                                                            const TrialResult& before,
                                                            TrialResult& with, TrialResult& again) {
  const std::vector<std::string>& base = comparison.without.levers;
  const double may_do = comparison.needed.value_or(threshold(noise_with(base).value_or(0)));
  const double in_one =
      std::max(may_do, comparison.needed.value_or(threshold(result_.noise_ratio)));
  Compared compared;
  compared.speedup = speedup_between(before, with, again, comparison.per_sample);
  compared.is_faster = compared.speedup.low > in_one;
  if (compared.is_faster || compared.speedup.high <= may_do) return compared;
  auto second = make(once_more(comparison.with));
  if (!second) return forward_error(second);
  const bool has_run = second->ending == Ending::kMeasured;
  if (Reason otherwise = has_run ? goes_otherwise(with, *second) : ending_reason(*second)) {
    compared.why_not = {ReasonKind::kRanAgain, {}, {std::move(otherwise)}};
    return compared;
  }
  auto without = make_measured(once_more(comparison.without));
  if (!without) return forward_error(without);
  compared.speedup =
      speedup_of_fastest({before, again, *without}, {with, *second}, comparison.per_sample);
  const double noise = noise_with(base).value_or(result_.noise_ratio);
  compared.is_faster = compared.speedup.low > comparison.needed.value_or(threshold(noise));
  if (second->mean_step_s < with.mean_step_s) with = *std::move(second);
  again = *std::move(without);
  return compared;
}

Result<ComparedAnew> TrialRunner::compare_anew(const Comparison& comparison,
                                               const std::string& label) {
  TrialRequest first = comparison.without;
  first.label = label;
  const auto before = make_measured(std::move(first));
  if (!before) return forward_error(before);
  return compare_behind(comparison, *before);
}

Result<ComparedAnew> TrialRunner::compare_behind(const Comparison& comparison,
                                                 const TrialResult& before) {
  auto with = make(comparison.with);
  if (!with) return forward_error(with);
  if (with->ending != Ending::kMeasured) {
    Compared failed;
    failed.why_not = ending_reason(*with);
    return ComparedAnew{failed, *std::move(with), before};
  }
  auto after = make_measured(comparison.without);
  if (!after) return forward_error(after);
  const auto compared = compare(comparison, before, *with, *after);
  if (!compared) return forward_error(compared);
  return ComparedAnew{*compared, *std::move(with), *std::move(after)};
}

}  // namespace unstarve::tune
