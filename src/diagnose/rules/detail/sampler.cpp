#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"
#include "diagnose/signals/conditions.h"

namespace unstarve::diagnose {

namespace {

// Whatever makes the batches: the training thread itself draws each one's indices in next().
std::optional<Claim> evaluate_sampler(const Signals& signals) {
  if (!waits_for_the_sampler(signals)) return std::nullopt;
  Claim claim;
  claim.weight = *signals.order_ratio;
  claim.evidence.push_back(
      fmt::format("for {} of the waiting the training thread is in the job's own sampler, which "
                  "chooses the samples of the next batch; no worker does that",
                  percent_text(claim.weight)));
  return claim;
}

}  // namespace

Rule sampler_rule() {
  return {"sampler", RuleKind::kDetail, "input_wait", {&Signals::order_ratio}, evaluate_sampler,
          ""};
}

}  // namespace unstarve::diagnose
