#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"
#include "diagnose/signals/conditions.h"

namespace unstarve::diagnose {

namespace {

std::optional<Claim> evaluate_too_few_workers(const Signals& signals) {
  // What a batch's time goes to is the better answer where it is known, so this one ranks low.
  constexpr double kWeight = 0.3;
  constexpr double kMostlyEmpty = 0.5;
  // They would get no CPU, unless they hardly need one.
  if (cpus_are_taken(signals) && !fetches_wait_for_storage(signals)) return std::nullopt;
  const bool inside = *signals.num_workers == 0;
  if (!inside && signals.empty_queue_ratio.value_or(0) < kMostlyEmpty) return std::nullopt;
  if (signals.effective_cpus && *signals.num_workers >= *signals.effective_cpus)
    return std::nullopt;
  if (signals.cpu_use_ratio && *signals.cpu_use_ratio >= kCpusBusy) return std::nullopt;
  Claim claim;
  claim.weight = kWeight;
  if (inside) {
    claim.evidence.push_back("num_workers=0: the training thread makes every batch itself");
  } else {
    claim.evidence.push_back(
        fmt::format("{:.0f} workers, and no batch was ready at {} of the waits",
                    *signals.num_workers, percent_text(*signals.empty_queue_ratio)));
  }
  if (signals.cpu_use_ratio) {
    claim.evidence.push_back(fmt::format("the job uses {} of the {:.0f} CPUs it may use",
                                         percent_text(*signals.cpu_use_ratio),
                                         *signals.effective_cpus));
  }
  return claim;
}

}  // namespace

Rule too_few_workers_rule() {
  return {"too_few_workers",       RuleKind::kDetail,        "input_wait",
          {&Signals::num_workers}, evaluate_too_few_workers, ""};
}

}  // namespace unstarve::diagnose
