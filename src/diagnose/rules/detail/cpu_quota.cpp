#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"

namespace unstarve::diagnose {

namespace {

std::optional<Claim> evaluate_cpu_quota(const Signals& signals) {
  constexpr double kThrottled = 0.05;
  if (*signals.throttled_ratio < kThrottled) return std::nullopt;
  Claim claim;
  claim.weight = *signals.throttled_ratio;
  claim.evidence.push_back(fmt::format(
      "the CPU quota stopped the job for {} of the time{}", percent_text(claim.weight),
      signals.effective_cpus ? fmt::format(" (it allows {:.1f} CPUs)", *signals.effective_cpus)
                             : ""));
  return claim;
}

}  // namespace

Rule cpu_quota_rule() {
  return {"cpu_quota",        RuleKind::kDetail,
          "input_wait",       {&Signals::throttled_ratio},
          evaluate_cpu_quota, ""};
}

}  // namespace unstarve::diagnose
