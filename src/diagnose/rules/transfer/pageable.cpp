#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"

namespace unstarve::diagnose {

namespace {

std::optional<Claim> evaluate_pageable(const Signals& signals) {
  constexpr double kMostly = 0.5;
  if (*signals.pageable_ratio < kMostly) return std::nullopt;
  Claim claim;
  claim.weight = *signals.pageable_ratio;
  claim.evidence.push_back(fmt::format(
      "{} of the bytes copied to the device come from pageable memory, which the driver "
      "stages and the host waits for",
      percent_text(claim.weight)));
  return claim;
}

}  // namespace

Rule pageable_rule() {
  return {"pageable",        RuleKind::kDetail,
          "exposed_copy",    {&Signals::pageable_ratio},
          evaluate_pageable, ""};
}

}  // namespace unstarve::diagnose
