#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"

namespace unstarve::diagnose {

namespace {

// Copies with no compute beside them; what kind of copy is for the details to say.
std::optional<Claim> evaluate_exposed_copy(const Signals& signals) {
  if (*signals.exposed_copy_ratio < kSmallestShare) return std::nullopt;
  Claim claim;
  claim.weight = *signals.exposed_copy_ratio;
  claim.evidence.push_back(fmt::format("copies run for {} of the time with no kernel beside them",
                                       percent_text(claim.weight)));
  if (signals.h2d_copies_per_step && signals.h2d_bytes_median) {
    claim.evidence.push_back(fmt::format("{:.1f} copies to the device per step, {} in the median",
                                         *signals.h2d_copies_per_step,
                                         bytes_text(*signals.h2d_bytes_median)));
  }
  return claim;
}

}  // namespace

Rule exposed_copy_rule() {
  return {"exposed_copy",        RuleKind::kCause,
          "exposed_copy",        {&Signals::exposed_copy_ratio},
          evaluate_exposed_copy, ""};
}

}  // namespace unstarve::diagnose
