#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"
#include "diagnose/signals/launch_conditions.h"

namespace unstarve::diagnose {

namespace {

// Many short gaps: the device is done with each piece before the host has launched the next.
std::optional<Claim> evaluate_launch_bound(const Signals& signals) {
  if (!is_launch_bound(signals)) return std::nullopt;
  Claim claim;
  claim.weight = short_gap_ratio(signals);
  claim.evidence.push_back(fmt::format(
      "{} of that lies in short gaps: the device is done with its work, of {} in the median, "
      "before the host has launched more",
      percent_text(claim.weight), duration_text(*signals.kernel_ns_median)));
  return claim;
}

}  // namespace

Rule launch_bound_rule() {
  return {"launch_bound",
          RuleKind::kDetail,
          "launch",
          {&Signals::long_launch_gap_ratio, &Signals::kernel_ns_median},
          evaluate_launch_bound,
          ""};
}

}  // namespace unstarve::diagnose
