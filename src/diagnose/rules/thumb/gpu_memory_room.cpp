#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"

namespace unstarve::diagnose {

namespace {

std::optional<Claim> evaluate_gpu_memory_room(const Signals& signals) {
  constexpr double kRoom = 0.5;
  if (*signals.gpu_memory_used_ratio >= kRoom) return std::nullopt;
  Claim claim;
  claim.evidence.push_back(
      fmt::format("{} of the GPU's memory is in use: there is room for a larger "
                  "batch",
                  percent_text(*signals.gpu_memory_used_ratio)));
  return claim;
}

}  // namespace

Rule gpu_memory_room_rule() {
  return {"gpu_memory_room",
          RuleKind::kHint,
          "",
          {&Signals::gpu_memory_used_ratio},
          evaluate_gpu_memory_room,
          "the peak between two samples, and whether a larger batch trains as well"};
}

}  // namespace unstarve::diagnose
