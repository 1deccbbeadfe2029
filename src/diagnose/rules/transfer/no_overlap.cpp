#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"

namespace unstarve::diagnose {

namespace {

std::optional<Claim> evaluate_no_overlap(const Signals& signals) {
  constexpr double kLittle = 0.2;
  constexpr double kWeight = 0.4;
  constexpr double kSeldom = 0.5;  // a step
  if (*signals.copy_overlap_ratio >= kLittle) return std::nullopt;
  // A checkpoint's copies come from the device; nothing computes that they could lie beside.
  if (signals.h2d_copies_per_step.value_or(1) < kSeldom) return std::nullopt;
  Claim claim;
  claim.weight = kWeight;
  claim.evidence.push_back(fmt::format("only {} of the copy time lies beside kernels",
                                       percent_text(*signals.copy_overlap_ratio)));
  return claim;
}

}  // namespace

Rule no_overlap_rule() {
  return {"no_overlap",        RuleKind::kDetail,
          "exposed_copy",      {&Signals::copy_overlap_ratio},
          evaluate_no_overlap, ""};
}

}  // namespace unstarve::diagnose
