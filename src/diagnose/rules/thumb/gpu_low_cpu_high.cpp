#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"

namespace unstarve::diagnose {

namespace {

std::optional<Claim> evaluate_gpu_low_cpu_high(const Signals& signals) {
  constexpr double kLow = 0.5;
  constexpr double kHigh = 0.8;
  if (*signals.gpu_utilisation_mean >= kLow || *signals.cpu_use_ratio < kHigh) return std::nullopt;
  Claim claim;
  claim.evidence.push_back(fmt::format(
      "GPU utilisation is low ({}) and the job's CPUs are busy ({}): data loading or preprocessing "
      "is the usual reason",
      percent_text(*signals.gpu_utilisation_mean), percent_text(*signals.cpu_use_ratio)));
  return claim;
}

}  // namespace

Rule gpu_low_cpu_high_rule() {
  return {"gpu_low_cpu_high",
          RuleKind::kHint,
          "",
          {&Signals::gpu_utilisation_mean, &Signals::cpu_use_ratio},
          evaluate_gpu_low_cpu_high,
          "whether the CPU time goes to loading at all: the training thread may burn it"};
}

}  // namespace unstarve::diagnose
