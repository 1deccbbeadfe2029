#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"
#include "diagnose/rules/stage_shares.h"

namespace unstarve::diagnose {

namespace {

// The counterpart of python_transform in unstarve's own loader.
std::optional<Claim> evaluate_slow_transform(const Signals& signals) {
  if (*signals.transform_ratio < kSlowStage || *signals.transform_ratio < *signals.decode_ratio ||
      *signals.transform_ratio < *signals.read_ratio) {
    return std::nullopt;
  }
  Claim claim;
  claim.weight = *signals.transform_ratio;
  claim.evidence.push_back(
      fmt::format("resizing and transforming takes {} of the time in the loader's stages",
                  percent_text(claim.weight)));
  return claim;
}

}  // namespace

Rule slow_transform_rule() {
  return {"slow_transform",
          RuleKind::kDetail,
          "input_wait",
          {&Signals::transform_ratio, &Signals::decode_ratio, &Signals::read_ratio},
          evaluate_slow_transform,
          ""};
}

}  // namespace unstarve::diagnose
