#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"

namespace unstarve::diagnose {

namespace {

std::optional<Claim> evaluate_read_back(const Signals& signals) {
  constexpr double kMost = 0.5;
  if (*signals.read_back_ratio < kMost) return std::nullopt;
  Claim claim;
  claim.weight = *signals.read_back_ratio;
  claim.evidence.push_back(
      fmt::format("{} of that is after values were copied back to the host, as .item(), .cpu(), "
                  "print(tensor) and `if tensor:` do",
                  percent_text(claim.weight)));
  return claim;
}

}  // namespace

Rule read_back_rule() {
  return {"read_back", RuleKind::kDetail, "sync", {&Signals::read_back_ratio}, evaluate_read_back,
          ""};
}

}  // namespace unstarve::diagnose
