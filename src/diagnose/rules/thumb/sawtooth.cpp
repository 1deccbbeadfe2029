#include <fmt/format.h>

#include "diagnose/rules/rule.h"

namespace unstarve::diagnose {

namespace {

std::optional<Claim> evaluate_sawtooth(const Signals& signals) {
  // One fall in 20 samples: at 10 Hz one every two seconds.
  constexpr double kOften = 0.05;
  if (*signals.gpu_utilisation_swings_ratio < kOften) return std::nullopt;
  Claim claim;
  claim.evidence.push_back(fmt::format(
      "GPU utilisation is a sawtooth: it falls from 70 % or more to 30 % or less once in {:.0f} "
      "samples, as when the GPU waits for each batch",
      1 / *signals.gpu_utilisation_swings_ratio));
  return claim;
}

}  // namespace

Rule sawtooth_rule() {
  return {"sawtooth",
          RuleKind::kHint,
          "",
          {&Signals::gpu_utilisation_swings_ratio},
          evaluate_sawtooth,
          "teeth shorter than the driver's averaging window (up to 1 s) do not show"};
}

}  // namespace unstarve::diagnose
