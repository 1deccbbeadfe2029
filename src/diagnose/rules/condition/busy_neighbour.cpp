#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"
#include "diagnose/signals/conditions.h"

namespace unstarve::diagnose {

namespace {

std::optional<Claim> evaluate_busy_neighbour(const Signals& signals) {
  if (!cpus_are_taken(signals)) return std::nullopt;
  Claim claim;
  claim.evidence.push_back(fmt::format(
      "other processes use {:.1f} of the {:.0f} CPUs that this job may use, and it gets {:.1f}",
      *signals.neighbour_cores, *signals.effective_cpus, *signals.job_cpu_cores));
  if (signals.cpu_waiting_threads) {
    claim.evidence.push_back(fmt::format("{:.1f} of its threads wait for a CPU, in the mean",
                                         *signals.cpu_waiting_threads));
  }
  if (signals.fetch_cpu_ratio && !is_native(signals)) {
    claim.evidence.push_back(fmt::format("a batch that is being made has a CPU for {} of the time",
                                         percent_text(*signals.fetch_cpu_ratio)));
  }
  return claim;
}

}  // namespace

Rule busy_neighbour_rule() {
  return {"busy_neighbour",
          RuleKind::kCondition,
          "",
          {&Signals::neighbour_cores, &Signals::job_cpu_cores, &Signals::effective_cpus},
          evaluate_busy_neighbour,
          ""};
}

}  // namespace unstarve::diagnose
