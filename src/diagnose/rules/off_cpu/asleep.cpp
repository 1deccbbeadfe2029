#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"
#include "diagnose/signals/conditions.h"

namespace unstarve::diagnose {

namespace {

std::optional<Claim> evaluate_asleep(const Signals& signals) {
  if (!fetches_sleep(signals)) return std::nullopt;
  Claim claim;
  claim.weight = *signals.fetch_sleep_call_ratio;
  claim.evidence.push_back(
      fmt::format("for {} of the time in which a batch is made, the data set's code sleeps: no "
                  "CPU and no disk would shorten it, more batches at a time would hide it",
                  percent_text(*signals.fetch_sleep_call_ratio)));
  return claim;
}

}  // namespace

Rule asleep_rule() {
  return {"asleep",        RuleKind::kDetail,
          "input_wait",    {&Signals::fetch_sleep_call_ratio},
          evaluate_asleep, ""};
}

}  // namespace unstarve::diagnose
