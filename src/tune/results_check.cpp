#include "tune/results_check.h"

#include <fmt/format.h>

namespace unstarve::tune {

namespace {

constexpr int kSeeds = 3;

}  // namespace

Status ResultsCheck::judge(LeverResult& entry, const std::vector<std::string>& levers,
                           const std::string& label) {
  TrialRequest request;
  request.label = label + ".losses";
  request.levers = levers;
  const auto verdict = compare(entry.lever, std::move(request));
  if (!verdict) return forward_error(verdict);
  entry.parity = verdict->parity;
  if (verdict->parity == Parity::kNotObserved) {
    entry.settle(Outcome::kNotMeasured, {ReasonKind::kResultsNotObserved, {}, {verdict->why}});
  } else if (verdict->parity == Parity::kFailed) {
    entry.settle(Outcome::kOtherResults, {ReasonKind::kOtherResults, {}, {verdict->why}});
  }
  return {};
}

Result<ParityVerdict> ResultsCheck::compare(const Lever& lever, TrialRequest request) {
  if (!make_) return ParityVerdict{Parity::kNotNeeded, {}};
  if (const Status based = measure_baseline(); !based) return forward_error(based);
  if (Reason why = why_not_observed(baseline_)) {
    if (lever.numerics == Numerics::kExact) return ParityVerdict{Parity::kNotNeeded, {}};
    return ParityVerdict{Parity::kNotObserved, std::move(why)};
  }
  request.parity_seed = 0;
  const auto recorded = make_(std::move(request));
  if (!recorded) return forward_error(recorded);
  return judge_parity(baseline_, *recorded, lever.numerics, has_fewer_bits(lever));
}

Result<TrialResult> ResultsCheck::make(const std::string& label,
                                       const std::vector<std::string>& levers, int seed) {
  TrialRequest request;
  request.label = label;
  request.levers = levers;
  request.parity_seed = seed;
  return make_(std::move(request));
}

Status ResultsCheck::measure_baseline() {
  if (is_measured_) return {};
  auto same = make("losses", {}, 0);
  if (!same) return forward_error(same);
  baseline_.same = *std::move(same);
  baseline_.same_again = baseline_.same;
  if (!why_not_observed(baseline_)) {
    auto again = make("losses.again", {}, 0);
    if (!again) return forward_error(again);
    baseline_.same_again = *std::move(again);
    for (int seed = 1; seed < kSeeds; ++seed) {
      auto other = make(fmt::format("losses.seed{}", seed), {}, seed);
      if (!other) return forward_error(other);
      baseline_.other_seeds.push_back(*std::move(other));
    }
    if (const Status precise = measure_in_float64(); !precise) return precise;
  }
  is_measured_ = true;
  own_.were_compared = true;
  own_.why_not = why_not_observed(baseline_);
  own_.are_repeatable = baseline_.same.losses == baseline_.same_again.losses;
  if (has_reference(baseline_)) own_.gradient_error = error_of_job(baseline_);
  return {};
}

/// One step, whose gradient others are held against. A model that cannot be run so has none.
Status ResultsCheck::measure_in_float64() {
  if (baseline_.same.gradient_sketch.empty()) return {};
  TrialRequest request;
  request.label = "losses.float64";
  request.parity_seed = 0;
  request.parity_steps = 1;
  request.in_float64 = true;
  auto precise = make_(std::move(request));
  if (!precise) return forward_error(precise);
  baseline_.reference = *std::move(precise);
  return {};
}

}  // namespace unstarve::tune
