#include <utility>

#include "diagnose/rules/rule.h"
#include "diagnose/rules/stage_shares.h"
#include "diagnose/rules/wording.h"

namespace unstarve::diagnose {

namespace {

// Without device records the wait itself is all there is; it bounds the idle time from above.
std::optional<Claim> evaluate(const Signals& signals) {
  const bool partition_speaks = signals.gpu_compute_ratio.has_value();
  if (partition_speaks || *signals.wait_ratio < kSmallestShare) return std::nullopt;
  Claim claim;
  claim.weight = *signals.wait_ratio;
  claim.evidence.push_back(fmt::format(
      "the training thread is inside the data loader's __next__ for {} of step time; no GPU "
      "activity "
      "is recorded, so how much of that leaves the GPU idle is not known: this is an upper bound",
      percent(claim.weight)));
  if (signals.gpu_utilisation_mean) {
    claim.evidence.push_back(fmt::format("the monitor shows a mean GPU utilisation of {}",
                                         percent(*signals.gpu_utilisation_mean)));
  }
  if (std::string shares = stage_shares(signals); !shares.empty()) {
    claim.evidence.push_back(std::move(shares));
  }
  return claim;
}

}  // namespace

Rule input_wait_from_host_rule() {
  return {"input_wait_from_host", RuleKind::kCause, "input_wait",
          {&Signals::wait_ratio}, evaluate,         ""};
}

}  // namespace unstarve::diagnose
