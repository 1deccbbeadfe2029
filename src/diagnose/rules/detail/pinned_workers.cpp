#include <fmt/format.h>

#include <algorithm>

#include "diagnose/rules/rule.h"
#include "diagnose/signals/conditions.h"

namespace unstarve::diagnose {

namespace {

// As the job's launcher or a library that it imports has it: an OpenMP that binds its threads sets
// the affinity of the thread that it is loaded in, and workers are forked with that.
std::optional<Claim> evaluate_pinned_workers(const Signals& signals) {
  if (!workers_are_pinned(signals)) return std::nullopt;
  Claim claim;
  claim.weight = 1 - *signals.worker_cpus / std::min(*signals.num_workers, *signals.effective_cpus);
  claim.evidence.push_back(fmt::format(
      "{:.0f} workers may use {:.0f} CPU{} together (their affinity), where the job may use {:.0f}",
      *signals.num_workers, *signals.worker_cpus, *signals.worker_cpus == 1 ? "" : "s",
      *signals.effective_cpus));
  return claim;
}

}  // namespace

Rule pinned_workers_rule() {
  return {"pinned_workers",
          RuleKind::kDetail,
          "input_wait",
          {&Signals::worker_cpus, &Signals::num_workers, &Signals::effective_cpus},
          evaluate_pinned_workers,
          ""};
}

}  // namespace unstarve::diagnose
