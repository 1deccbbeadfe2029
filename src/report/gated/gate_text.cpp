#include "report/gated/gate_text.h"

#include <fmt/format.h>

#include "report/compared/comparison_text.h"
#include "report/compared/comparison_words.h"
#include "report/gated/gate_words.h"
#include "report/terminal/table.h"

namespace unstarve::report {

namespace {

Tone tone_of(gate::Decision decision) {
  if (decision == gate::Decision::kHolds) return Tone::kGood;
  return decision == gate::Decision::kRegressed ? Tone::kBad : Tone::kNotice;
}

std::string wrapped(const std::string& text, Tone tone, const TextOptions& options) {
  std::string lines;
  for (const std::string& line : wrap(printable(text, options), options.width)) {
    lines += paint(line, tone, options) + "\n";
  }
  return lines;
}

Table gated_table(const gate::GateResult& result) {
  Table table;
  table.columns = {{{""}, false}, {{"base"}}, {{"now"}}, {{"change"}}, {{"limit"}}, {{""}, false}};
  for (const gate::MeasureJudgement& measure : result.judgement.measures) {
    const compare::MeasureRow* const row = result.comparison.row(measure.id);
    const compare::Unit unit = row != nullptr ? row->unit : compare::Unit::kRatio;
    table.rows.push_back({{{measure.id}},
                          {{value_text(measure.a, unit)}},
                          {{value_text(measure.b, unit)}},
                          {{judged_change_text(measure)}},
                          {{measure.limit}},
                          {{std::string(to_string(measure.state))}}});
  }
  return table;
}

}  // namespace

std::string render_gate(const gate::GateResult& result, const TextOptions& options) {
  std::string text =
      wrapped("gate: " + decision_sentence(result),
              result.compared ? tone_of(result.judgement.decision) : Tone::kNotice, options);
  if (!result.compared) return text;
  text += wrapped(
      "A is " + result.base + ", B the job as it is now. " + comparison_sentence(result.comparison),
      Tone::kPlain, options);
  Table table = gated_table(result);
  if (table_width(table) > options.width) {
    for (auto& row : table.rows) row.erase(row.begin() + 4);  // the limit is in the JSON too
    table.columns.erase(table.columns.begin() + 4);
  }
  text += "\n" + render_table(table, options);
  for (const gate::MeasureJudgement& measure : result.judgement.measures) {
    if (measure.state != gate::MeasureState::kAbstains) continue;
    text += hanging(measure.id + " ", state_sentence(measure), options);
  }
  // The cost of what did not certainly change would be noise times a month.
  const bool regressed = result.judgement.decision == gate::Decision::kRegressed;
  if (const auto& cost = result.comparison.cost; regressed && cost) {
    const std::string sentence = work_cost_sentence(*cost);
    if (!sentence.empty()) text += "\n" + wrapped(sentence, Tone::kPlain, options);
  }
  return text + "\n" + wrapped(rates_sentence(result), Tone::kFaint, options);
}

}  // namespace unstarve::report
