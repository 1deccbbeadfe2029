#include <fmt/format.h>

#include <algorithm>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"
#include "diagnose/rules/stage_shares.h"
#include "diagnose/signals/conditions.h"

namespace unstarve::diagnose {

namespace {

std::optional<Claim> evaluate_decode_cpu(const Signals& signals) {
  constexpr double kMost = 0.35;
  double decoding = *signals.decode_ratio;
  // Decoders read the file themselves: what they wait for it is no work.
  if (fetches_wait_for_storage(signals)) decoding = std::min(decoding, *signals.fetch_cpu_ratio);
  decoding = of_time_on_cpu(signals, decoding);
  if (decoding < kMost || decoding < *signals.collate_ratio ||
      decoding < of_time_on_cpu(signals, signals.python_ratio.value_or(0))) {
    return std::nullopt;
  }
  Claim claim;
  claim.weight = decoding;
  claim.evidence.push_back(
      fmt::format("decoding images takes {} of the{} time in which a batch is made",
                  percent_text(claim.weight), fetches_wait_for_cpu(signals) ? " CPU" : ""));
  return claim;
}

}  // namespace

Rule decode_cpu_rule() {
  return {"decode_cpu",        RuleKind::kDetail,
          "input_wait",        {&Signals::decode_ratio, &Signals::collate_ratio},
          evaluate_decode_cpu, ""};
}

}  // namespace unstarve::diagnose
