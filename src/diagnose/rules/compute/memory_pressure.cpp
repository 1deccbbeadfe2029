#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"
#include "diagnose/signals/launch_conditions.h"

namespace unstarve::diagnose {

namespace {

std::string how_often(double per_step) {
  if (per_step >= 0.95) return fmt::format("{:.1f} times a step", per_step);
  return fmt::format("in one of {:.0f} steps", 1 / per_step);
}

std::optional<Claim> evaluate_memory_pressure(const Signals& signals) {
  if (!allocator_holds_up(signals)) return std::nullopt;
  Claim claim;
  claim.weight = *signals.allocation_ratio;
  std::string sentence =
      fmt::format("in {} of that the host asks the driver for memory of the GPU, or gives it back",
                  percent_text(claim.weight));
  if (const double full = signals.memory_full_per_step.value_or(0); full > 0) {
    sentence +=
        "; PyTorch's allocator found it full and gave all back that lay unused " + how_often(full);
  }
  claim.evidence.push_back(std::move(sentence));
  return claim;
}

}  // namespace

// What is given back to the driver waits for the GPU, and what is asked for again takes as long.
Rule memory_pressure_rule() {
  return {"memory_pressure",
          RuleKind::kDetail,
          "launch",
          {&Signals::allocation_ratio},
          evaluate_memory_pressure,
          ""};
}

}  // namespace unstarve::diagnose
