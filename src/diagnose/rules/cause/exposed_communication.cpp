#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"

namespace unstarve::diagnose {

namespace {

// Communication that no compute hides.
std::optional<Claim> evaluate_exposed_communication(const Signals& signals) {
  if (*signals.exposed_communication_ratio < kSmallestShare) return std::nullopt;
  Claim claim;
  claim.weight = *signals.exposed_communication_ratio;
  claim.evidence.push_back(
      fmt::format("communication kernels run for {} of the time with no compute beside them",
                  percent_text(claim.weight)));
  if (signals.communication_overlap_ratio) {
    claim.evidence.push_back(fmt::format("{} of the communication is hidden behind compute",
                                         percent_text(*signals.communication_overlap_ratio)));
  }
  claim.evidence.push_back(
      "one rank's recording cannot tell a slow network from waiting for a slower rank");
  return claim;
}

}  // namespace

Rule exposed_communication_rule() {
  return {"exposed_communication",        RuleKind::kCause,
          "exposed_communication",        {&Signals::exposed_communication_ratio},
          evaluate_exposed_communication, ""};
}

}  // namespace unstarve::diagnose
