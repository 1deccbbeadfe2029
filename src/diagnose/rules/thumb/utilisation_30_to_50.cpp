#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"

namespace unstarve::diagnose {

namespace {

std::optional<Claim> evaluate_utilisation_30_to_50(const Signals& signals) {
  constexpr double kFrom = 0.3;
  constexpr double kTo = 0.5;
  if (*signals.gpu_utilisation_mean < kFrom || *signals.gpu_utilisation_mean > kTo) {
    return std::nullopt;
  }
  Claim claim;
  claim.evidence.push_back(
      fmt::format("GPU utilisation is {}: between 30 and 50 %, look at the data loader first",
                  percent_text(*signals.gpu_utilisation_mean)));
  return claim;
}

}  // namespace

Rule utilisation_30_to_50_rule() {
  return {"utilisation_30_to_50",
          RuleKind::kHint,
          "",
          {&Signals::gpu_utilisation_mean},
          evaluate_utilisation_30_to_50,
          "the reason; the partition can, where there are device records"};
}

}  // namespace unstarve::diagnose
