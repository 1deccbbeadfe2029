#include "tune/runs.h"

#include <fmt/format.h>

#include <algorithm>

#include "tune/judging/speed.h"

namespace unstarve::tune {

namespace {

constexpr double kFirstStepTimes = 10;  // as long as the first step of the job as it is
constexpr double kFirstStepAtLeastS = 60;
constexpr double kFewestParitySteps = 20;
constexpr double kMostParitySteps = 200;

TrialRequest once_more(TrialRequest request) {
  request.label += ".2";
  return request;
}

}  // namespace

Result<TrialResult> Runs::make(TrialRequest request) {
  ++result_.trials;
  if (result_.baseline.cold_s > 0) {
    request.first_step_within_s = std::max({request.first_step_within_s, kFirstStepAtLeastS,
                                            kFirstStepTimes * result_.baseline.cold_s});
  }
  if (request.parity_seed >= 0 && request.parity_steps == 0) {
    request.parity_steps = parity_steps();
  }
  listener_.begins(request, result_.trials);
  auto made = trials_.run(request);
  if (made) listener_.ended(request, *made);
  return made;
}

int Runs::parity_steps() const {
  if (options_.parity_steps > 0) return options_.parity_steps;
  const double fit = 2 * options_.trial_seconds / result_.baseline.mean_step_s;
  return static_cast<int>(std::clamp(fit, kFewestParitySteps, kMostParitySteps));
}

Result<TrialResult> Runs::make(const std::string& label, const std::vector<std::string>& levers,
                               bool until_known) {
  return make(request_for(label, levers, until_known));
}

TrialRequest Runs::request_for(const std::string& label, const std::vector<std::string>& levers,
                               bool until_known) const {
  TrialRequest request;
  request.label = label;
  request.levers = levers;
  request.until_known = until_known;
  if (!until_known && !levers.empty()) request.baseline_step_s = result_.baseline.mean_step_s;
  return request;
}

Result<TrialResult> Runs::make_measured(const std::string& label,
                                        const std::vector<std::string>& levers, bool until_known) {
  return make_measured(request_for(label, levers, until_known));
}

Result<TrialResult> Runs::make_measured(TrialRequest request) {
  const std::string label = request.label;
  const bool as_it_is = request.levers.empty();
  auto made = make(std::move(request));
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

bool Runs::is_beyond_doubt(const TrialResult& one, const TrialResult& other) const {
  return tune::is_beyond_doubt(one, other, result_.as_it_is_s);
}

Result<Compared> Runs::compare(const Comparison& what, double needed, const TrialResult& before,
                               TrialResult& with, TrialResult& again) {
  Compared compared = {speedup_between(before, with, again, what.per_sample), {}};
  if (compared.speedup.low > needed || compared.speedup.high <= needed) return compared;
  auto second = make(once_more(what.with));
  if (!second) return forward_error(second);
  if (second->ending != Ending::kMeasured) {
    compared.why_not =
        fmt::format("{} when it ran again: {}", to_string(second->ending), second->why);
    return compared;
  }
  auto without = make_measured(once_more(what.without));
  if (!without) return forward_error(without);
  compared.speedup =
      speedup_of_fastest({before, again, *without}, {with, *second}, what.per_sample);
  if (second->mean_step_s < with.mean_step_s) with = *std::move(second);
  again = *std::move(without);
  return compared;
}

}  // namespace unstarve::tune
