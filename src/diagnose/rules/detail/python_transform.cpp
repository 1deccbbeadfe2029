#include <fmt/format.h>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"
#include "diagnose/signals/conditions.h"
#include "diagnose/signals/fetch_work.h"

namespace unstarve::diagnose {

namespace {

/// Work of a library's own threads, for which the one that fetches waits.
Claim work_of_libraries(const Signals& signals) {
  const FetchWorkShare work = *main_fetch_work(signals);
  Claim claim;
  claim.weight = *(signals.*work.share);
  claim.evidence.push_back(
      fmt::format("{} takes {} of the time in which a batch is made, mostly in threads of its "
                  "library, for which the one that fetches waits",
                  words_of(work.work), percent_text(claim.weight)));
  return claim;
}

std::optional<Claim> evaluate_python_transform(const Signals& signals) {
  constexpr double kMost = 0.35;
  if (fetches_wait_for_libraries(signals)) return work_of_libraries(signals);
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
