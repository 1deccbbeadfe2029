#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"

namespace unstarve::diagnose {

namespace {

std::optional<Claim> evaluate_small_batch(const Signals& signals) {
  constexpr double kRoom = 0.5;
  constexpr double kShortKernelNs = 20e3;
  constexpr double kWeight = 0.3;
  if (*signals.gpu_memory_used_ratio >= kRoom || *signals.kernel_ns_median >= kShortKernelNs) {
    return std::nullopt;
  }
  Claim claim;
  claim.weight = kWeight;
  claim.evidence.push_back(fmt::format(
      "the median kernel takes {} and {} of the GPU's memory is in use: a larger batch "
      "has room and "
      "would give the chip more to do at once",
      duration_text(*signals.kernel_ns_median), percent_text(*signals.gpu_memory_used_ratio)));
  return claim;
}

}  // namespace

Rule small_batch_rule() {
  return {"small_batch",        RuleKind::kDetail,
          "gpu_busy",           {&Signals::gpu_memory_used_ratio, &Signals::kernel_ns_median},
          evaluate_small_batch, ""};
}

}  // namespace unstarve::diagnose
