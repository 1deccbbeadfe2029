#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"
#include "diagnose/signals/conditions.h"

namespace unstarve::diagnose {

namespace {

std::optional<Claim> evaluate_small_copies(const Signals& signals) {
  constexpr double kWeight = 0.6;
  if (!makes_small_copies(signals)) return std::nullopt;
  Claim claim;
  claim.weight = kWeight;
  claim.evidence.push_back(fmt::format("{:.0f} copies to the device per step, of {} in the median",
                                       *signals.h2d_copies_per_step,
                                       bytes_text(*signals.h2d_bytes_median)));
  return claim;
}

}  // namespace

Rule small_copies_rule() {
  return {"small_copies",        RuleKind::kDetail,
          "exposed_copy",        {&Signals::h2d_copies_per_step, &Signals::h2d_bytes_median},
          evaluate_small_copies, ""};
}

}  // namespace unstarve::diagnose
