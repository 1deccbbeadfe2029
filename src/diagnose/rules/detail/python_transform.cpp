#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"
#include "diagnose/signals/conditions.h"

namespace unstarve::diagnose {

namespace {

std::optional<Claim> evaluate_python_transform(const Signals& signals) {
  constexpr double kMost = 0.35;
  const double python = of_time_on_cpu(signals, *signals.python_ratio);
  if (python < kMost || *signals.python_ratio <= *signals.decode_ratio) return std::nullopt;
  Claim claim;
  claim.weight = python;
  claim.evidence.push_back(
      fmt::format("the data set's own code and transforms take {} of the time in which a batch is "
                  "made (CPU time "
                  "outside decoding and collate)",
                  percent_text(claim.weight)));
  return claim;
}

}  // namespace

Rule python_transform_rule() {
  return {"python_transform",
          RuleKind::kDetail,
          "input_wait",
          {&Signals::python_ratio, &Signals::decode_ratio},
          evaluate_python_transform,
          ""};
}

}  // namespace unstarve::diagnose
