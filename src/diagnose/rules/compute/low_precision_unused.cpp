#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"

namespace unstarve::diagnose {

namespace {

std::optional<Claim> evaluate_low_precision_unused(const Signals& signals) {
  constexpr double kMuch = 0.2;
  if (*signals.float_product_ratio < kMuch) return std::nullopt;
  Claim claim;
  claim.weight = *signals.float_product_ratio;
  claim.evidence.push_back(fmt::format(
      "{} of the kernels' time goes to products of 32-bit floats, as their names tell, for which "
      "the GPU's tensor cores are idle",
      percent_text(claim.weight)));
  return claim;
}

}  // namespace

Rule low_precision_unused_rule() {
  return {"low_precision_unused",
          RuleKind::kDetail,
          "gpu_busy",
          {&Signals::float_product_ratio},
          evaluate_low_precision_unused,
          ""};
}

}  // namespace unstarve::diagnose
