#include "report/gated/gate_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <vector>

#include "base/number_words.h"

namespace unstarve::report {

namespace {

using gate::Decision;
using gate::MeasureJudgement;
using gate::MeasureState;

/// Of a measure's scale: a logarithm of a ratio, or a difference of shares.
std::string gated_amount_text(const MeasureJudgement& measure, double amount) {
  if (is_share(measure.id)) return fmt::format("{:.1f} points", 100 * amount);
  return percent_text(std::expm1(amount));
}

std::vector<std::string> named(const gate::Judgement& judgement, MeasureState state,
                               bool with_change) {
  std::vector<std::string> names;
  for (const MeasureJudgement& measure : judgement.measures) {
    if (measure.state != state) continue;
    names.push_back(with_change ? fmt::format("{} {} (limit {})", measure.id,
                                              judged_change_text(measure), measure.limit)
                                : measure.id);
  }
  return names;
}

}  // namespace

bool is_share(const std::string& measure) {
  const compare::Measure* const known = compare::measure_named(measure);
  return known != nullptr && known->unit == compare::Unit::kRatio;
}

std::string judged_change_text(const MeasureJudgement& measure) {
  if (is_share(measure.id)) return fmt::format("{:+.1f} points", 100 * (measure.b - measure.a));
  if (measure.a <= 0) return number_text(measure.b);
  return fmt::format("{:+.1f} %", 100 * (measure.b / measure.a - 1));
}

std::string decision_sentence(const gate::GateResult& result) {
  if (!result.compared) {
    return fmt::format("could not compare: the base was recorded elsewhere ({})",
                       fmt::join(result.unlike, "; "));
  }
  const gate::Judgement& judgement = result.judgement;
  if (judgement.decision == Decision::kRegressed) {
    return fmt::format("regressed: {}",
                       fmt::join(named(judgement, MeasureState::kRegressed, true), ", "));
  }
  if (judgement.decision == Decision::kHolds) {
    const std::vector<std::string> traded = named(judgement, MeasureState::kTraded, true);
    if (traded.empty()) return "holds";
    return fmt::format("holds: a step takes less time, for more of {}", fmt::join(traded, ", "));
  }
  std::vector<std::string> open = named(judgement, MeasureState::kOpen, false);
  if (open.empty()) open = named(judgement, MeasureState::kAbstains, false);
  for (const std::string& absent : judgement.absent) open.push_back(absent + " (not recorded)");
  return fmt::format("undecided: {}", open.empty() ? std::string("nothing could be measured")
                                                   : fmt::format("{}", fmt::join(open, ", ")));
}

std::string state_sentence(const MeasureJudgement& measure) {
  switch (measure.state) {
    case MeasureState::kRegressed: return "regressed";
    case MeasureState::kHolds: return "holds";
    case MeasureState::kTraded: return "traded: more of it, and a step takes less time";
    case MeasureState::kOpen: return "undecided";
    case MeasureState::kAbstains:
      return fmt::format("abstains: it varies by {} from pair to pair",
                         gated_amount_text(measure, measure.noise));
  }
  return {};
}

std::string rates_sentence(const gate::GateResult& result) {
  const compare::Comparison& comparison = result.comparison;
  std::string text = fmt::format(
      "{} runs of the base, {} of the job as it is. Of gates of the same against the same at most "
      "{:.0f} % say \"regressed\".",
      comparison.runs_a, comparison.runs_b, 100 * result.judging.false_alarm_rate);
  std::vector<std::string> seen;
  for (const MeasureJudgement& measure : result.judgement.measures) {
    if (!std::isfinite(measure.detectable)) continue;
    seen.push_back(
        fmt::format("{} {}", measure.id, gated_amount_text(measure, measure.detectable)));
  }
  if (!seen.empty()) {
    text += fmt::format(" With {} runs a side it sees four of five changes of: {}.",
                        result.judging.runs_max, fmt::join(seen, ", "));
  }
  if (result.budget_spent) text += " The time that it was given is used up.";
  return text;
}

}  // namespace unstarve::report
