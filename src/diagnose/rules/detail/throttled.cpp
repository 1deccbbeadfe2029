#include "diagnose/rules/all_rules.h"
#include "diagnose/rules/remedies.h"
#include "diagnose/rules/wording.h"

#include <algorithm>

namespace unstarve::diagnose {

namespace {

std::optional<Claim> evaluate(const Signals& signals) {
  constexpr double kOften = 0.1;
  const double worse = std::max(*signals.thermal_slowdown_ratio, *signals.power_cap_ratio);
  if (worse < kOften) return std::nullopt;
  Claim claim;
  claim.weight = worse;
  claim.evidence.push_back(
      fmt::format("clocks were held down by heat in {} and by the power limit in {} of the samples",
                  percent(*signals.thermal_slowdown_ratio), percent(*signals.power_cap_ratio)));
  if (*signals.thermal_slowdown_ratio >= kOften) {
    claim.remedies.push_back(
        advice("cool_the_gpu", "Look at the node's cooling: fans, inlet temperature, neighbours."));
  }
  return claim;
}

}  // namespace

Rule throttled_rule() {
  return {"throttled", RuleKind::kDetail,
          "gpu_busy",  {&Signals::thermal_slowdown_ratio, &Signals::power_cap_ratio},
          evaluate,    ""};
}

}  // namespace unstarve::diagnose
