#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"

namespace unstarve::diagnose {

namespace {

/// What it computes without need counts like time in which it is idle.
std::optional<Claim> evaluate_needless_work(const Signals& signals) {
  constexpr double kMuch = 0.1;
  const double padding = *signals.gpu_compute_ratio * signals.padded_ratio.value_or(0);
  if (padding < kMuch) return std::nullopt;
  Claim claim;
  claim.weight = padding;
  claim.evidence.push_back(
      fmt::format("kernels run for {} of the time, and for about {} of it on padding",
                  percent_text(*signals.gpu_compute_ratio), percent_text(*signals.padded_ratio)));
  return claim;
}

// The GPU computes nearly all the time: nothing around it holds the job up.
std::optional<Claim> evaluate_gpu_busy(const Signals& signals) {
  if (*signals.gpu_compute_ratio < kBusyShare) return evaluate_needless_work(signals);
  Claim claim;
  claim.weight = *signals.gpu_compute_ratio;
  claim.evidence.push_back(
      fmt::format("kernels run for {} of the time; whether they use the GPU well, this cannot tell",
                  percent_text(claim.weight)));
  return claim;
}

}  // namespace

Rule gpu_busy_rule() {
  return {"gpu_busy",        RuleKind::kCause,
          "gpu_busy",        {&Signals::gpu_compute_ratio},
          evaluate_gpu_busy, ""};
}

}  // namespace unstarve::diagnose
