#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"

namespace unstarve::diagnose {

namespace {

// The host blocked on the device, the queue drained, and the next launch came only afterwards.
std::optional<Claim> evaluate_sync(const Signals& signals) {
  if (*signals.sync_ratio < kSmallestShare) return std::nullopt;
  const double late = signals.launch_after_sync_ratio.value_or(0);
  Claim claim;
  claim.weight = *signals.sync_ratio + late;
  claim.evidence.push_back(fmt::format(
      "the GPU is idle for {} of the time after the host waited for it, so that nothing was queued",
      percent_text(*signals.sync_ratio)));
  if (late >= kSmallestShare) {
    claim.evidence.push_back(fmt::format(
        "and for {} because the host launches too late afterwards: it is blocked for {} of the "
        "time, in which it would have gone ahead",
        percent_text(late), percent_text(*signals.blocked_ratio)));
  }
  if (signals.syncs_per_step) {
    claim.evidence.push_back(fmt::format(
        "{:.1f} blocking calls per step{}", *signals.syncs_per_step,
        signals.blocking_call.empty() ? "" : ", most of their time in " + signals.blocking_call));
  }
  return claim;
}

}  // namespace

Rule sync_rule() {
  return {"sync", RuleKind::kCause, "sync", {&Signals::sync_ratio}, evaluate_sync, ""};
}

}  // namespace unstarve::diagnose
