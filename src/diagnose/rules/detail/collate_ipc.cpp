#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"

#include <algorithm>

namespace unstarve::diagnose {

namespace {

/// Of the waiting, what a batch was ready in: the hand-over from the worker, by shared memory,
/// pinning, unpickling. Where the workers have the CPUs, whoever takes the batch waits for one: it
/// is what they do there that takes time.
double handing_over(const Signals& signals) {
  constexpr double kWaitsForCpu = 0.1;
  const bool crowded = signals.launch_beside_loading_ratio.value_or(0) >= kSmallestShare &&
                       signals.training_cpu_wait_ratio.value_or(0) >= kWaitsForCpu;
  if (*signals.num_workers < 1 || crowded) return 0;
  return signals.ready_wait_ratio.value_or(0);
}

std::optional<Claim> evaluate_collate_ipc(const Signals& signals) {
  constexpr double kMuch = 0.25;
  constexpr double kMostlyReady = 0.5;
  const double collate = signals.collate_ratio.value_or(0);
  const double ready = handing_over(signals);
  if (collate < kMuch && ready < kMostlyReady) return std::nullopt;
  Claim claim;
  claim.weight = std::max(collate, ready);
  if (collate >= kMuch) {
    claim.evidence.push_back(fmt::format("collate takes {} of the time in which a batch is made",
                                         percent_text(collate)));
  }
  if (ready >= kMostlyReady) {
    claim.evidence.push_back(fmt::format(
        "{} of the waiting happened although a batch was ready: handing it over is what takes time",
        percent_text(ready)));
  }
  return claim;
}

}  // namespace

Rule collate_ipc_rule() {
  return {"collate_ipc",           RuleKind::kDetail,    "input_wait",
          {&Signals::num_workers}, evaluate_collate_ipc, ""};
}

}  // namespace unstarve::diagnose
