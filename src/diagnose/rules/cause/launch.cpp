#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"
#include "diagnose/signals/launch_conditions.h"

namespace unstarve::diagnose {

namespace {

// The host came too late with the next launch: Python, the framework, or kernels so short that
// no host keeps up.
std::optional<Claim> evaluate_launch(const Signals& signals) {
  if (own_launch_ratio(signals) < kSmallestShare) return std::nullopt;
  Claim claim;
  claim.weight = own_launch_ratio(signals);
  claim.evidence.push_back(fmt::format(
      "the GPU is idle for {} of the time because the host launched the next work too late",
      percent_text(claim.weight)));
  if (signals.kernel_ns_median) {
    const std::string count =
        signals.launches_per_step
            ? fmt::format("{:.0f} GPU operations per step, ", *signals.launches_per_step)
            : "";
    claim.evidence.push_back(fmt::format("{}the median kernel takes {}", count,
                                         duration_text(*signals.kernel_ns_median)));
  }
  const double elsewhere = signals.launch_ratio.value_or(0) - claim.weight;
  if (elsewhere >= kSmallestShare) {
    claim.evidence.push_back(
        fmt::format("{} more follow from waits for the GPU or from loading, and count there",
                    percent_text(elsewhere)));
  }
  if (cpus_are_taken(signals)) {
    claim.evidence.emplace_back(
        "other processes have CPUs that this job may use: its own threads wait for one before they "
        "can launch");
  }
  if (one_gap_dominates(signals)) {
    claim.evidence.push_back(fmt::format(
        "one single gap makes {} of it: an event like start-up or compilation, not the steady loop",
        percent_text(*signals.longest_launch_gap_ratio)));
  }
  return claim;
}

}  // namespace

Rule launch_rule() {
  return {"launch", RuleKind::kCause, "launch", {&Signals::launch_ratio}, evaluate_launch, ""};
}

}  // namespace unstarve::diagnose
