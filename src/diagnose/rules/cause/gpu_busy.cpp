#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"

namespace unstarve::diagnose {

namespace {

// The GPU computes nearly all the time: nothing around it holds the job up.
std::optional<Claim> evaluate_gpu_busy(const Signals& signals) {
  // Up to here everything else together is not worth a search for causes.
  constexpr double kBusy = 0.9;
  if (*signals.gpu_compute_ratio < kBusy) return std::nullopt;
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
