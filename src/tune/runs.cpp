#include "tune/runs.h"

#include <algorithm>

#include "tune/judging/speed.h"

namespace unstarve::tune {

namespace {

constexpr double kFirstStepTimes = 10;  // as long as the first step of the job as it is
constexpr double kFirstStepAtLeastS = 60;
constexpr double kFewestParitySteps = 20;
constexpr double kMostParitySteps = 200;

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
  return trials_.run(request);
}

int Runs::parity_steps() const {
  if (options_.parity_steps > 0) return options_.parity_steps;
  const double fit = 2 * options_.trial_seconds / result_.baseline.mean_step_s;
  return static_cast<int>(std::clamp(fit, kFewestParitySteps, kMostParitySteps));
}

Result<TrialResult> Runs::make(const std::string& label, const std::vector<std::string>& levers,
                               bool until_known) {
  TrialRequest request;
  request.label = label;
  request.levers = levers;
  request.until_known = until_known;
  if (!until_known && !levers.empty()) request.baseline_step_s = result_.baseline.mean_step_s;
  return make(std::move(request));
}

Result<TrialResult> Runs::make_measured(const std::string& label,
                                        const std::vector<std::string>& levers, bool until_known) {
  auto made = make(label, levers, until_known);
  if (made && made->ending != Ending::kMeasured) {
    return fail(ErrorCode::kJobFailed, "{}: {}{}{}", label, to_string(made->ending),
                made->why.empty() ? "" : ": ", made->why);
  }
  if (made && levers.empty()) {
    as_it_is_s_.push_back(made->mean_step_s);
    result_.noise_ratio = noise_among(as_it_is_s_);
  }
  return made;
}

}  // namespace unstarve::tune
