#include "tune/tune_result.h"

#include <algorithm>

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

double step_as_it_is_s(const TuneResult& result) {
  std::vector<double> steps_s = result.as_it_is_s;
  if (steps_s.empty()) return result.baseline.mean_step_s;
  const auto middle = steps_s.begin() + static_cast<std::ptrdiff_t>(steps_s.size() / 2);
  std::nth_element(steps_s.begin(), middle, steps_s.end());
  return *middle;
}

}  // namespace unstarve::tune
