#include "tune/result/tune_result.h"

#include <algorithm>

#include "base/statistics.h"

namespace unstarve::tune {

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPending: return "pending";
    case Outcome::kNotApplicable: return "not_applicable";
    case Outcome::kTooSmall: return "too_small";
    case Outcome::kNotMeasured: return "not_measured";
    case Outcome::kSlower: return "slower";
    case Outcome::kWithinNoise: return "within_noise";
    case Outcome::kOtherWork: return "other_work";
    case Outcome::kOtherResults: return "other_results";
    case Outcome::kTooMuchMemory: return "too_much_memory";
    case Outcome::kForMemory: return "for_memory";
    case Outcome::kFaster: return "faster";
    case Outcome::kNotBesideOthers: return "not_beside_others";
    case Outcome::kReplaced: return "replaced";
    case Outcome::kProposed: return "proposed";
    case Outcome::kKept: return "kept";
  }
  return "";
}

Reason ending_reason(const TrialResult& result) {
  return {ReasonKind::kEnding,
          {{"ending", std::string(to_string(result.ending))}, {"text", result.why}}};
}

double step_as_it_is_s(const TuneResult& result) {
  return result.as_it_is_s.empty() ? result.baseline.mean_step_s : median(result.as_it_is_s);
}

}  // namespace unstarve::tune
