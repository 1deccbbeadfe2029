#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"

namespace unstarve::diagnose {

namespace {

std::optional<Claim> evaluate_kernel_wait(const Signals& signals) {
  if (*signals.kernel_wait_ratio < kSmallestShare) return std::nullopt;
  Claim claim;
  claim.weight = *signals.kernel_wait_ratio;
  claim.evidence.push_back(fmt::format(
      "the GPU is idle for {} of the time in gaps of at most 50 us before work that was already "
      "launched: the device's own turnaround between kernels",
      percent_text(claim.weight)));
  return claim;
}

}  // namespace

Rule kernel_wait_rule() {
  return {"kernel_wait",        RuleKind::kCause,
          "kernel_wait",        {&Signals::kernel_wait_ratio},
          evaluate_kernel_wait, ""};
}

}  // namespace unstarve::diagnose
