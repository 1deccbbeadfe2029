#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"
#include "diagnose/rules/stage_shares.h"

namespace unstarve::diagnose {

namespace {

// Needs no word of the kernel's, unlike `storage` and `page_cache_miss`: unstarve's own loader says
// how long it read.
std::optional<Claim> evaluate_slow_read(const Signals& signals) {
  if (*signals.read_ratio < kSlowStage || *signals.read_ratio < *signals.decode_ratio ||
      *signals.read_ratio < *signals.transform_ratio) {
    return std::nullopt;
  }
  Claim claim;
  claim.weight = *signals.read_ratio;
  claim.evidence.push_back(fmt::format("reading takes {} of the time in the loader's stages",
                                       percent_text(claim.weight)));
  return claim;
}

}  // namespace

Rule slow_read_rule() {
  return {
      "slow_read",        RuleKind::kDetail,
      "input_wait",       {&Signals::read_ratio, &Signals::decode_ratio, &Signals::transform_ratio},
      evaluate_slow_read, ""};
}

}  // namespace unstarve::diagnose
