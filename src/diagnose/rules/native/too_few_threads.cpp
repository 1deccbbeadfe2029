#include <fmt/format.h>

#include <cmath>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"
#include "diagnose/signals/conditions.h"

namespace unstarve::diagnose {

namespace {

// The counterpart of too_few_workers for unstarve's own loader: its threads never pause, and CPUs
// are left for more of them.
std::optional<Claim> evaluate_too_few_threads(const Signals& signals) {
  // What a batch's time goes to is the better answer where it is known, so this one ranks low.
  constexpr double kWeight = 0.3;
  constexpr double kHardlyIdle = 0.1;
  const double cpus = std::floor(*signals.effective_cpus);
  if (*signals.threads_idle_ratio >= kHardlyIdle || *signals.loader_threads > cpus - 0.5 ||
      *signals.cpu_use_ratio >= kCpusBusy) {
    return std::nullopt;
  }
  Claim claim;
  claim.weight = kWeight;
  claim.evidence.push_back(fmt::format(
      "the loader's {} all but {} of the time, and the job uses {} of the {:.0f} CPUs it may use",
      *signals.loader_threads < 1.5 ? "thread works"
                                    : fmt::format("{:.0f} threads work", *signals.loader_threads),
      percent_text(*signals.threads_idle_ratio), percent_text(*signals.cpu_use_ratio),
      *signals.effective_cpus));
  return claim;
}

}  // namespace

Rule too_few_threads_rule() {
  return {"too_few_threads",
          RuleKind::kDetail,
          "input_wait",
          {&Signals::loader_threads, &Signals::threads_idle_ratio, &Signals::effective_cpus,
           &Signals::cpu_use_ratio},
          evaluate_too_few_threads,
          ""};
}

}  // namespace unstarve::diagnose
