#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"
#include "diagnose/signals/conditions.h"

namespace unstarve::diagnose {

namespace {

std::optional<Claim> evaluate_gpu_low_cpu_low(const Signals& signals) {
  if (cpus_are_taken(signals)) return std::nullopt;  // by others: they are not idle
  constexpr double kGpuLow = 0.5;
  constexpr double kCpuLow = 0.5;
  constexpr double kSteady = 0.25;
  if (*signals.gpu_utilisation_mean >= kGpuLow || *signals.cpu_use_ratio >= kCpuLow ||
      *signals.gpu_utilisation_deviation >= kSteady) {
    return std::nullopt;
  }
  Claim claim;
  claim.evidence.push_back(fmt::format(
      "GPU ({}) and CPUs ({}) are both mostly idle: host code that does not "
      "parallelise is the usual "
      "reason",
      percent_text(*signals.gpu_utilisation_mean), percent_text(*signals.cpu_use_ratio)));
  return claim;
}

}  // namespace

Rule gpu_low_cpu_low_rule() {
  return {"gpu_low_cpu_low",
          RuleKind::kHint,
          "",
          {&Signals::gpu_utilisation_mean, &Signals::gpu_utilisation_deviation,
           &Signals::cpu_use_ratio},
          evaluate_gpu_low_cpu_low,
          "which code: a single thread at 100 % of one CPU, storage, a lock or the network look "
          "the same"};
}

}  // namespace unstarve::diagnose
