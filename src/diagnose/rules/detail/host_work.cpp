#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"
#include "diagnose/signals/launch_conditions.h"

namespace unstarve::diagnose {

namespace {

std::string how_often(double per_step) {
  if (per_step >= 0.95) return fmt::format("{:.0f} of them a step", std::max(1.0, per_step));
  return fmt::format("one in {:.0f} steps", 1 / per_step);
}

// Few long gaps are no matter of launching: between two launches the host did something else.
std::optional<Claim> evaluate_host_work(const Signals& signals) {
  if (!host_works_between_launches(signals)) return std::nullopt;
  Claim claim;
  claim.weight = long_gap_ratio(signals) * not_for_memory_ratio(signals);
  std::string sentence =
      fmt::format("{} of that lies in long gaps, in which the host launched nothing",
                  percent_text(claim.weight));
  if (signals.long_launch_gap_ns_median) {
    sentence +=
        fmt::format(": {} in the median", duration_text(*signals.long_launch_gap_ns_median));
  }
  if (signals.long_launch_gaps_per_step.value_or(0) > 0) {
    sentence += ", " + how_often(*signals.long_launch_gaps_per_step);
  }
  claim.evidence.push_back(std::move(sentence));
  for (const NamedWork& work : named_work(signals)) {
    claim.evidence.push_back(
        fmt::format("{} takes {} of it", work.words, percent_text(work.ratio)));
  }
  return claim;
}

}  // namespace

Rule host_work_rule() {
  return {"host_work",        RuleKind::kDetail,
          "launch",           {&Signals::long_launch_gap_ratio},
          evaluate_host_work, ""};
}

}  // namespace unstarve::diagnose
