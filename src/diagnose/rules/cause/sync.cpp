#include "diagnose/rules/all_rules.h"
#include "diagnose/rules/remedies.h"
#include "diagnose/rules/wording.h"

namespace unstarve::diagnose {

namespace {

// The host blocked on the device, the queue drained, and the next launch came only afterwards.
std::optional<Claim> evaluate(const Signals& signals) {
  if (*signals.sync_ratio < kSmallestShare) return std::nullopt;
  Claim claim;
  claim.weight = *signals.sync_ratio;
  claim.evidence.push_back(fmt::format(
      "the GPU is idle for {} of the time after the host waited for it, so that nothing was queued",
      percent(claim.weight)));
  if (signals.syncs_per_step) {
    claim.evidence.push_back(fmt::format(
        "{:.1f} blocking calls per step{}", *signals.syncs_per_step,
        signals.blocking_call.empty() ? "" : ", most of their time in " + signals.blocking_call));
  }
  claim.remedies.push_back(
      advice("remove_sync",
             "Take .item(), .cpu(), .tolist(), print(loss) and torch.cuda.synchronize() out of the "
             "step, or "
             "do them every 100 steps and on values copied with non_blocking=True."));
  return claim;
}

}  // namespace

Rule sync_rule() {
  return {"sync", RuleKind::kCause, "sync", {&Signals::sync_ratio}, evaluate, ""};
}

}  // namespace unstarve::diagnose
