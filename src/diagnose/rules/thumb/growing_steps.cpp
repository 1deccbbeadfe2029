#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"

namespace unstarve::diagnose {

namespace {

std::optional<Claim> evaluate_growing_steps(const Signals& signals) {
  constexpr double kMuch = 1.2;
  if (*signals.step_growth_ratio < kMuch) return std::nullopt;
  Claim claim;
  claim.evidence.push_back(fmt::format(
      "a step takes {} as long in the last quarter of the run as in the first, waits left out, and "
      "grows from quarter to quarter: look for what grows with each step, such as a metric or a "
      "list of losses that keeps all that it was given",
      factor_text(*signals.step_growth_ratio)));
  return claim;
}

}  // namespace

Rule growing_steps_rule() {
  return {"growing_steps",
          RuleKind::kHint,
          "",
          {&Signals::step_growth_ratio},
          evaluate_growing_steps,
          "whether the batches grow, as those of samples by length do, or the machine gets slower"};
}

}  // namespace unstarve::diagnose
