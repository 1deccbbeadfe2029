#include "diagnose/rules/rule.h"
#include "diagnose/rules/wording.h"

namespace unstarve::diagnose {

namespace {

std::optional<Claim> evaluate(const Signals& signals) {
  constexpr double kMostly = 0.5;
  if (*signals.outlier_wait_ratio < kMostly) return std::nullopt;
  Claim claim;
  claim.weight = *signals.outlier_wait_ratio;
  claim.evidence.push_back(fmt::format(
      "{} of the waiting is in single waits over 5 times the median one, as when workers "
      "start anew in every epoch",
      percent(claim.weight)));
  return claim;
}

}  // namespace

Rule loader_startup_rule() {
  return {"loader_startup", RuleKind::kDetail,
          "input_wait",     {&Signals::outlier_wait_ratio},
          evaluate,         ""};
}

}  // namespace unstarve::diagnose
