#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"

namespace unstarve::diagnose {

namespace {

// Only what was seen: a long wait alone may have any reason, such as workers that hand over their
// batches together.
std::optional<Claim> evaluate_loader_startup(const Signals& signals) {
  constexpr double kMuch = 0.25;
  if (*signals.loader_starts < 1 || *signals.startup_wait_ratio < kMuch) return std::nullopt;
  Claim claim;
  claim.weight = *signals.startup_wait_ratio;
  std::string sentence =
      fmt::format("{} of the waiting is for worker processes that start anew: {:.0f} {}",
                  percent_text(claim.weight), *signals.loader_starts,
                  *signals.loader_starts < 1.5 ? "time" : "times");
  if (signals.loader_start_ns) {
    sentence += fmt::format(", {} each from iter() to the first batch, without fetching it",
                            duration_text(*signals.loader_start_ns));
  }
  if (signals.loader_end_ns) {
    sentence +=
        fmt::format(", and {} until they have ended", duration_text(*signals.loader_end_ns));
  }
  claim.evidence.push_back(std::move(sentence));
  return claim;
}

}  // namespace

Rule loader_startup_rule() {
  return {"loader_startup",
          RuleKind::kDetail,
          "input_wait",
          {&Signals::loader_starts, &Signals::startup_wait_ratio},
          evaluate_loader_startup,
          ""};
}

}  // namespace unstarve::diagnose
