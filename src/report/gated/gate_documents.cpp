#include "report/gated/gate_documents.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/compared/comparison_document.h"
#include "report/compared/comparison_markdown.h"
#include "report/compared/comparison_words.h"
#include "report/gated/gate_words.h"
#include "report/html/escape.h"
#include "report/words/json_text.h"

namespace unstarve::report {

namespace {

using gate::GateResult;
using gate::MeasureJudgement;
using gate::MeasureState;
using GateJson = nlohmann::ordered_json;

/// A change on the measure's scale as a ratio, or as a difference of shares.
GateJson change_of(const MeasureJudgement& measure, double amount) {
  if (!std::isfinite(amount)) return {{"absent", "not_observed"}};
  return is_share(measure.id) ? amount : std::expm1(amount);
}

std::string decision_of(const GateResult& result) {
  return result.compared ? std::string(to_string(result.judgement.decision)) : "not_compared";
}

/// The smallest change that any of the measures sees.
GateJson smallest_detectable(const GateResult& result) {
  double smallest = INFINITY;
  for (const MeasureJudgement& measure : result.judgement.measures) {
    if (!is_share(measure.id)) smallest = std::min(smallest, std::expm1(measure.detectable));
  }
  return std::isfinite(smallest) ? GateJson(smallest) : GateJson{{"absent", "not_observed"}};
}

std::string junit_case(const MeasureJudgement& measure) {
  const std::string head =
      fmt::format("  <testcase classname=\"unstarve.gate\" name=\"{}\"", escape(measure.id));
  const std::string says = fmt::format("{}, limit {}", judged_change_text(measure), measure.limit);
  if (measure.state == MeasureState::kHolds || measure.state == MeasureState::kTraded) {
    return head + "/>\n";
  }
  const bool failed = measure.state == MeasureState::kRegressed;
  return fmt::format("{}>\n    <{} message=\"{}: {}\"/>\n  </testcase>\n", head,
                     failed ? "failure" : "skipped", escape(state_sentence(measure)), escape(says));
}

}  // namespace

std::string gate_json(const GateResult& result) {
  GateJson json = comparison_document(result.comparison);
  json["schema"] = "unstarve.gate/1";
  json["base"] = result.base;
  json["decision"] = decision_of(result);
  json["says"] = decision_sentence(result);
  json["false_alarm_rate"] = result.judging.false_alarm_rate;
  json["smallest_detectable_ratio"] = smallest_detectable(result);
  json["runs"] = {{"base", result.comparison.runs_a}, {"now", result.comparison.runs_b}};
  json["budget_spent"] = result.budget_spent;
  json["unlike"] = result.unlike;
  GateJson judged = GateJson::array();
  for (const MeasureJudgement& measure : result.judgement.measures) {
    judged.push_back({{"id", measure.id},
                      {"limit", measure.limit},
                      {"asked", measure.asked},
                      {"base", measure.a},
                      {"now", measure.b},
                      {"base_runs", measure.a_runs},
                      {"now_runs", measure.b_runs},
                      {"noise", change_of(measure, measure.noise)},
                      {"smallest_detectable", change_of(measure, measure.detectable)},
                      {"p_worse", measure.p_worse},
                      {"p_fine", measure.p_fine},
                      {"state", std::string(to_string(measure.state))}});
  }
  json["judged"] = std::move(judged);
  json["absent"] = result.judgement.absent;
  return json_text(json);
}

std::string gate_junit(const GateResult& result) {
  std::string cases;
  int failures = 0;
  int skipped = 0;
  int errors = 0;
  for (const MeasureJudgement& measure : result.judgement.measures) {
    cases += junit_case(measure);
    if (measure.state == MeasureState::kRegressed) ++failures;
    if (measure.state == MeasureState::kOpen || measure.state == MeasureState::kAbstains) ++skipped;
  }
  const bool decided = result.compared && result.judgement.decision != gate::Decision::kUndecided;
  if (!decided) {
    ++errors;
    cases += fmt::format(
        "  <testcase classname=\"unstarve.gate\" name=\"decision\">\n    <error "
        "message=\"{}\"/>\n  </testcase>\n",
        escape(decision_sentence(result)));
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"unstarve gate\" tests=\"{}\" "
      "failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n{}  <system-out>{}</system-out>\n"
      "</testsuite>\n",
      result.judgement.measures.size() + (decided ? 0 : 1), failures, errors, skipped, cases,
      escape(comparison_sentence(result.comparison) + " " + rates_sentence(result)));
}

std::string gate_markdown(const GateResult& result) {
  std::string text =
      fmt::format("### unstarve gate: {}\n\n", markdown_text(decision_sentence(result)));
  if (!result.compared) return text;
  text += fmt::format("A is {}, B the job as it is now.\n\n", markdown_text(result.base));
  text += "| | base | now | change | limit | |\n|---|---:|---:|---:|---:|---|\n";
  for (const MeasureJudgement& measure : result.judgement.measures) {
    const compare::MeasureRow* const row = result.comparison.row(measure.id);
    const compare::Unit unit = row != nullptr ? row->unit : compare::Unit::kRatio;
    text +=
        fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", measure.id, value_text(measure.a, unit),
                    value_text(measure.b, unit), judged_change_text(measure),
                    markdown_text(measure.limit), markdown_text(state_sentence(measure)));
  }
  return text + "\n" + markdown_text(rates_sentence(result)) + "\n\n" +
         comparison_markdown(result.comparison);
}

}  // namespace unstarve::report
