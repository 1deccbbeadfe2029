#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"

namespace unstarve::diagnose {

namespace {

std::optional<Claim> evaluate_utilisation_above_70(const Signals& signals) {
  constexpr double kGood = 0.7;
  if (*signals.gpu_utilisation_mean <= kGood) return std::nullopt;
  Claim claim;
  claim.evidence.push_back(fmt::format("GPU utilisation is {}: above 70 % is good",
                                       percent_text(*signals.gpu_utilisation_mean)));
  return claim;
}

}  // namespace

Rule utilisation_above_70_rule() {
  return {"utilisation_above_70",
          RuleKind::kHint,
          "",
          {&Signals::gpu_utilisation_mean},
          evaluate_utilisation_above_70,
          "how much of the chip is used: one small kernel at a time also reads 100 %"};
}

}  // namespace unstarve::diagnose
