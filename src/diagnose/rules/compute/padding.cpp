#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"

namespace unstarve::diagnose {

namespace {

std::optional<Claim> evaluate_padding(const Signals& signals) {
  constexpr double kMuch = 0.1;
  const double padded = signals.padded_ratio.value_or(0);  // of texts alone
  if (padded < kMuch) return std::nullopt;
  Claim claim;
  claim.weight = padded;
  claim.evidence.push_back(
      fmt::format("{} of the columns of its batches of token ids are padding in all texts of the "
                  "batch: the model computes them like text",
                  percent_text(claim.weight)));
  return claim;
}

}  // namespace

Rule padding_rule() {
  return {"padding", RuleKind::kDetail, "gpu_busy", {&Signals::gpu_compute_ratio}, evaluate_padding,
          ""};
}

}  // namespace unstarve::diagnose
