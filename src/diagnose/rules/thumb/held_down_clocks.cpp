#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"

namespace unstarve::diagnose {

namespace {

std::optional<Claim> evaluate_held_down_clocks(const Signals& signals) {
  constexpr double kOften = 0.05;
  if (*signals.thermal_slowdown_ratio < kOften && *signals.power_cap_ratio < kOften) {
    return std::nullopt;
  }
  Claim claim;
  claim.evidence.push_back(fmt::format(
      "the GPU's clocks were held down by heat in {} and by its power limit in {} of the samples",
      percent_text(*signals.thermal_slowdown_ratio), percent_text(*signals.power_cap_ratio)));
  return claim;
}

}  // namespace

Rule held_down_clocks_rule() {
  return {"held_down_clocks",
          RuleKind::kHint,
          "",
          {&Signals::thermal_slowdown_ratio, &Signals::power_cap_ratio},
          evaluate_held_down_clocks,
          "what it costs: a capped clock does not matter to a GPU that waits"};
}

}  // namespace unstarve::diagnose
