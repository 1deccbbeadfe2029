#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"

namespace unstarve::diagnose {

namespace {

std::optional<Claim> evaluate_host_memory_room(const Signals& signals) {
  constexpr double kRoom = 0.5;
  if (*signals.memory_available_ratio < kRoom) return std::nullopt;
  Claim claim;
  claim.evidence.push_back(fmt::format(
      "{} of the host's memory is available: there is room for workers, prefetched batches and the "
      "page cache",
      percent_text(*signals.memory_available_ratio)));
  return claim;
}

}  // namespace

Rule host_memory_room_rule() {
  return {"host_memory_room",
          RuleKind::kHint,
          "",
          {&Signals::memory_available_ratio},
          evaluate_host_memory_room,
          "whether the job would be faster with them"};
}

}  // namespace unstarve::diagnose
