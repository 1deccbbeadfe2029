#include "diagnose/rules/rule.h"
#include "diagnose/rules/stage_shares.h"
#include "diagnose/rules/wording.h"

namespace unstarve::diagnose {

namespace {

std::optional<Claim> evaluate(const Signals& signals) {
  constexpr double kMost = 0.35;
  if (*signals.decode_ratio < kMost || *signals.decode_ratio < *signals.collate_ratio ||
      *signals.decode_ratio < signals.python_ratio.value_or(0)) {
    return std::nullopt;
  }
  Claim claim;
  claim.weight = *signals.decode_ratio;
  claim.evidence.push_back(fmt::format(
      "decoding images takes {} of the time in which a batch is made", percent(claim.weight)));
  return claim;
}

}  // namespace

Rule decode_cpu_rule() {
  return {"decode_cpu", RuleKind::kDetail,
          "input_wait", {&Signals::decode_ratio, &Signals::collate_ratio},
          evaluate,     ""};
}

}  // namespace unstarve::diagnose
