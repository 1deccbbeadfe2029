#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"
#include "diagnose/signals/conditions.h"

namespace unstarve::diagnose {

namespace {

std::optional<Claim> evaluate_too_many_workers(const Signals& signals) {
  constexpr double kWeight = 0.3;
  if (!workers_crowd(signals)) return std::nullopt;
  Claim claim;
  claim.weight = kWeight;
  claim.evidence.push_back(fmt::format(
      "{:.0f} workers share {:.0f} CPUs, which are {} busy, with the training thread",
      *signals.num_workers, *signals.effective_cpus, percent_text(*signals.cpu_use_ratio)));
  return claim;
}

}  // namespace

Rule too_many_workers_rule() {
  return {"too_many_workers",
          RuleKind::kDetail,
          "input_wait",
          {&Signals::num_workers, &Signals::effective_cpus, &Signals::cpu_use_ratio},
          evaluate_too_many_workers,
          ""};
}

}  // namespace unstarve::diagnose
