#include "trial/verification.h"

namespace unstarve::trial {

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::kKept: return "kept";
    case Outcome::kSlower: return "slower";
    case Outcome::kNotKept: break;
  }
  return "not_kept";
}

Outcome outcome_from(std::string_view word) {
  for (const Outcome outcome : {Outcome::kKept, Outcome::kSlower}) {
    if (word == to_string(outcome)) return outcome;
  }
  return Outcome::kNotKept;
}

Outcome outcome_of(const predict::Speedup& measured) {
  if (measured.low > 1 && measured.speedup >= kWorthKeeping) return Outcome::kKept;
  return measured.high < 1 ? Outcome::kSlower : Outcome::kNotKept;
}

}  // namespace unstarve::trial
