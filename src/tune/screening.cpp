#include "tune/screening.h"

#include <algorithm>

#include "tune/judging/memory.h"
#include "tune/judging/promise.h"
#include "tune/judging/speed.h"
#include "tune/levers/catalogue.h"

namespace unstarve::tune {

namespace {

constexpr double kCompiledWithinS = 300;

}  // namespace

Status Screening::run() {
  for (std::size_t i = 0; i < result_.levers.size(); ++i) {
    LeverResult& entry = result_.levers[i];
    if (!entry.is_pending()) continue;
    if (is_variant_of_slower(entry)) {
      entry.settle(Outcome::kSlower,
                   {ReasonKind::kVariantOfSlower, {{"lever", entry.lever.variant_of}}});
    } else if (const Status done = screen_one(i); !done) {
      return done;
    }
    listener_.judged(result_.levers[i]);
  }
  std::stable_sort(winners_.begin(), winners_.end(),
                   [](const Winner& a, const Winner& b) { return a.speedup > b.speedup; });
  return {};
}

bool Screening::is_variant_of_slower(const LeverResult& entry) const {
  return std::any_of(result_.levers.begin(), result_.levers.end(), [&](const LeverResult& other) {
    return other.lever.id == entry.lever.variant_of && other.speedup && other.speedup->high < 1;
  });
}

Status Screening::screen_one(std::size_t index) {
  LeverResult& entry = result_.levers[index];
  const bool changes = entry.lever.numerics == Numerics::kTrajectory;
  auto with = runner_.make(request_with(entry));
  if (!with) return forward_error(with);
  entry.tried = true;
  entry.cold_s = with->cold_s;
  entry.peak_memory_bytes = with->peak_memory_bytes;
  entry.latency = with->latency;
  if (with->ending != Ending::kMeasured) {
    const bool is_finite = with->ending != Ending::kNotFinite;
    entry.settle(is_finite ? Outcome::kNotMeasured : Outcome::kOtherResults, ending_reason(*with));
    entry.parity = is_finite ? Parity::kNotObserved : Parity::kFailed;
    return {};
  }
  const bool is_slower = with->mean_step_s > opening_.mean_step_s;
  if (!opening_is_old_ && !changes && is_slower && runner_.is_beyond_doubt(opening_, *with)) {
    opening_is_old_ = true;
    TrialResult again = opening_;
    return judge(entry, opening_, *with, again);
  }
  auto again = runner_.make_measured(request_without(entry));
  if (!again) return forward_error(again);
  const Status judged = judge(entry, opening_, *with, *again);
  opening_ = *std::move(again);
  opening_is_old_ = false;
  if (judged && entry.is_pending()) {
    winners_.push_back({index, entry.speedup->speedup, *std::move(with)});
    entry.settle(Outcome::kFaster, ReasonKind::kFasterByItself);
  }
  return judged;
}

namespace {

/// A gain beyond all that the lever eases has another cause: most often, that less is computed.
Reason gains_too_much(const LeverResult& entry) {
  constexpr double kBeyond = 1.1;  // the bound is of the steps that were looked at
  // What a loader could gain at most is what batches gain that are there already: no sum.
  if (!entry.at_most || entry.lever.eases == Eases::kLoading) return {};
  if (entry.speedup->low <= kBeyond * *entry.at_most) return {};
  return {ReasonKind::kGainsTooMuch,
          {{"most", *entry.at_most}, {"eases", std::string(to_string(entry.lever.eases))}}};
}

}  // namespace

TrialRequest Screening::request_with(const LeverResult& entry) const {
  TrialRequest request;
  request.label = entry.lever.id;
  request.levers = {entry.lever.id};
  // A step of a larger batch takes longer, and is not slower for it.
  const bool changes = entry.lever.numerics == Numerics::kTrajectory;
  request.baseline_step_s = changes ? 0 : result_.baseline.mean_step_s;
  if (entry.lever.group == kCompilers) request.first_step_within_s = kCompiledWithinS;
  return request;
}

TrialRequest Screening::request_without(const LeverResult& entry) const {
  return runner_.request_for(entry.lever.id + ".without", {}, true);
}

/// Leaves it pending where the lever may be kept.
Status Screening::judge(LeverResult& entry, const TrialResult& before, TrialResult& with,
                        TrialResult& again) {
  const bool changes = entry.lever.numerics == Numerics::kTrajectory;
  const bool known = with.samples_per_step > 0 && before.samples_per_step > 0;
  if (!known && (changes || entry.lever.numerics == Numerics::kRegrouped)) {
    entry.settle(Outcome::kNotMeasured, ReasonKind::kSamplesUnknown);
    return {};
  }
  if (entry.settle_if(Outcome::kTooMuchMemory, too_much_memory(before, with)) ||
      entry.settle_if(Outcome::kOtherWork, skipped_steps(before, with))) {
    return {};
  }
  if (!changes &&
      entry.settle_if(Outcome::kOtherWork, less_work(before, with, entry.lever.passes_ratio))) {
    entry.parity = Parity::kFailed;
    return {};
  }
  const auto compared =
      runner_.compare({request_with(entry), request_without(entry), changes}, before, with, again);
  if (!compared) return forward_error(compared);
  if (entry.settle_if(Outcome::kNotMeasured, compared->why_not)) return {};
  entry.speedup = compared->speedup;
  if (entry.settle_if(Outcome::kOtherWork, gains_too_much(entry))) {
    entry.parity = Parity::kFailed;
    return {};
  }
  entry.pays_off_steps = steps_to_pay_off(result_.baseline, before, with);
  if (entry.lever.saves_memory) {
    entry.settle(Outcome::kForMemory, memory_for_time(before, with, *entry.speedup));
    return {};
  }
  return judge_speed(entry, with);
}

Status Screening::judge_speed(LeverResult& entry, const TrialResult& with) {
  const double needed = threshold(result_.noise_ratio);
  if (entry.speedup->high < 1) {
    entry.settle(Outcome::kSlower,
                 with.given_up ? ReasonKind::kSlowerEndedEarly : ReasonKind::kSlower);
  } else if (entry.speedup->low <= needed) {
    entry.settle(Outcome::kWithinNoise, no_certain_gain(needed));
    return fed_.judge(entry, result_.noise_ratio);
  } else if (entry.lever.numerics == Numerics::kTrajectory) {
    entry.settle(Outcome::kProposed, ReasonKind::kChangesTraining);
  } else {
    return results_check_.judge(entry, {entry.lever.id}, entry.lever.id);
  }
  return {};
}

}  // namespace unstarve::tune
