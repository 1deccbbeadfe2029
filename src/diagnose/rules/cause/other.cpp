#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"

namespace unstarve::diagnose {

namespace {

// Honest about what is not known: nothing follows from it.
std::optional<Claim> evaluate_other(const Signals& signals) {
  if (*signals.other_ratio < kSmallestShare) return std::nullopt;
  Claim claim;
  claim.weight = *signals.other_ratio;
  claim.evidence.push_back(fmt::format(
      "the GPU is idle for {} of the time for a reason that the recording does not hold",
      percent_text(claim.weight)));
  if (signals.edge_other_ratio.value_or(0) >= kSmallestShare) {
    claim.evidence.push_back(
        fmt::format("{} of the time is before the first or after the last GPU operation that was "
                    "recorded: the recording began late or ended early",
                    percent_text(*signals.edge_other_ratio)));
  }
  if (signals.ops_without_launch_ratio.value_or(0) > 0) {
    claim.evidence.push_back(fmt::format("the launch calls of {} of the GPU operations are missing",
                                         percent_text(*signals.ops_without_launch_ratio)));
  }
  return claim;
}

}  // namespace

Rule other_rule() {
  return {"other", RuleKind::kCause, "other", {&Signals::other_ratio}, evaluate_other, ""};
}

}  // namespace unstarve::diagnose
