#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"
#include "diagnose/signals/conditions.h"

namespace unstarve::diagnose {

namespace {

std::optional<Claim> evaluate_gpu_fluctuating_cpu_low(const Signals& signals) {
  if (cpus_are_taken(signals)) return std::nullopt;  // by others: they are not idle
  constexpr double kMoves = 0.25;
  constexpr double kLow = 0.5;
  if (*signals.gpu_utilisation_deviation < kMoves || *signals.cpu_use_ratio >= kLow) {
    return std::nullopt;
  }
  Claim claim;
  claim.evidence.push_back(fmt::format(
      "GPU utilisation fluctuates (standard deviation {}) while the job uses {} of its "
      "CPUs: too few "
      "workers is the usual reason",
      percent_text(*signals.gpu_utilisation_deviation), percent_text(*signals.cpu_use_ratio)));
  return claim;
}

}  // namespace

Rule gpu_fluctuating_cpu_low_rule() {
  return {"gpu_fluctuating_cpu_low",
          RuleKind::kHint,
          "",
          {&Signals::gpu_utilisation_deviation, &Signals::cpu_use_ratio},
          evaluate_gpu_fluctuating_cpu_low,
          "slow storage looks the same, and so do evaluation or checkpoints between steps"};
}

}  // namespace unstarve::diagnose
