#include <utility>

#include "diagnose/rules/rule.h"
#include "diagnose/rules/stage_shares.h"
#include "diagnose/rules/wording.h"

namespace unstarve::diagnose {

namespace {

// Idle while the training thread waits for a batch; the details say what a batch's time goes to.
std::optional<Claim> evaluate(const Signals& signals) {
  if (*signals.input_wait_ratio < kSmallestShare) return std::nullopt;
  Claim claim;
  claim.weight = *signals.input_wait_ratio;
  claim.evidence.push_back(fmt::format(
      "the GPU is idle for {} of the time while the training thread is inside the data loader's "
      "__next__, which takes {} of step time in all",
      percent(claim.weight), percent(*signals.wait_ratio)));
  if (signals.wait_ns_median && signals.step_ns_median) {
    claim.evidence.push_back(fmt::format("median wait {} of a median step of {}",
                                         duration(*signals.wait_ns_median),
                                         duration(*signals.step_ns_median)));
  }
  if (std::string shares = stage_shares(signals); !shares.empty()) {
    claim.evidence.push_back(std::move(shares));
  }
  return claim;
}

}  // namespace

Rule input_wait_rule() {
  return {"input_wait", RuleKind::kCause,
          "input_wait", {&Signals::input_wait_ratio, &Signals::wait_ratio},
          evaluate,     ""};
}

}  // namespace unstarve::diagnose
