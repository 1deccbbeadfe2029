#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"
#include "diagnose/signals/conditions.h"

#include <algorithm>

namespace unstarve::diagnose {

namespace {

std::optional<Claim> evaluate_throttled(const Signals& signals) {
  const double worse = std::max(*signals.thermal_slowdown_ratio, *signals.power_cap_ratio);
  if (worse < kClocksOftenDown) return std::nullopt;
  Claim claim;
  claim.weight = worse;
  claim.evidence.push_back(fmt::format(
      "clocks were held down by heat in {} and by the power limit in {} of the samples",
      percent_text(*signals.thermal_slowdown_ratio), percent_text(*signals.power_cap_ratio)));
  return claim;
}

}  // namespace

Rule throttled_rule() {
  return {"throttled",        RuleKind::kDetail,
          "gpu_busy",         {&Signals::thermal_slowdown_ratio, &Signals::power_cap_ratio},
          evaluate_throttled, ""};
}

}  // namespace unstarve::diagnose
