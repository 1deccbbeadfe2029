#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"
#include "diagnose/signals/conditions.h"

namespace unstarve::diagnose {

namespace {

std::optional<Claim> evaluate_blocking_copies(const Signals& signals) {
  if (!awaits_uploads(signals)) return std::nullopt;
  Claim claim;
  claim.weight = *signals.upload_wait_ratio;
  claim.evidence.push_back(fmt::format(
      "{} of that is after copies to the device that the host waited for: from pageable memory, or "
      "without non_blocking=True",
      percent_text(claim.weight)));
  if (makes_small_copies(signals)) {
    claim.evidence.push_back(
        fmt::format("{:.0f} copies to the device per step, of {} in the median",
                    *signals.h2d_copies_per_step, bytes_text(*signals.h2d_bytes_median)));
  }
  return claim;
}

}  // namespace

Rule blocking_copies_rule() {
  return {"blocking_copies",
          RuleKind::kDetail,
          "sync",
          {&Signals::upload_wait_ratio},
          evaluate_blocking_copies,
          ""};
}

}  // namespace unstarve::diagnose
