#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"

namespace unstarve::diagnose {

namespace {

std::optional<Claim> evaluate_memory_bound(const Signals& signals) {
  constexpr double kMost = 0.5;
  if (*signals.memory_kernel_ratio < kMost) return std::nullopt;
  Claim claim;
  claim.weight = *signals.memory_kernel_ratio;
  claim.evidence.push_back(fmt::format(
      "{} of the kernels' time goes to elementwise work, norms, reductions and copies, as their "
      "names tell, which the memory's bandwidth limits and not its arithmetic",
      percent_text(claim.weight)));
  return claim;
}

}  // namespace

Rule memory_bound_rule() {
  return {"memory_bound",
          RuleKind::kDetail,
          "gpu_busy",
          {&Signals::memory_kernel_ratio},
          evaluate_memory_bound,
          ""};
}

}  // namespace unstarve::diagnose
