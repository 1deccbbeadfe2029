#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"

namespace unstarve::diagnose {

namespace {

std::optional<Claim> evaluate_misaligned_shapes(const Signals& signals) {
  constexpr double kMuch = 0.1;
  if (*signals.misaligned_product_ratio < kMuch) return std::nullopt;
  Claim claim;
  claim.weight = *signals.misaligned_product_ratio;
  claim.evidence.push_back(fmt::format(
      "{} of the kernels' time goes to products on tensor cores whose rows cannot be read 16 bytes "
      "at a time, as their names tell: a size is no multiple of 8",
      percent_text(claim.weight)));
  return claim;
}

}  // namespace

Rule misaligned_shapes_rule() {
  return {"misaligned_shapes",
          RuleKind::kDetail,
          "gpu_busy",
          {&Signals::misaligned_product_ratio},
          evaluate_misaligned_shapes,
          ""};
}

}  // namespace unstarve::diagnose
