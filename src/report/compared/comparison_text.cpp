#include "report/compared/comparison_text.h"

#include <fmt/format.h>

#include <cmath>
#include <sstream>

#include "base/number_words.h"
#include "report/compared/comparison_words.h"
#include "report/terminal/table.h"

namespace unstarve::report {

namespace {

using compare::Comparison;
using compare::MeasureRow;

Tone tone_of(const MeasureRow& row) {
  if (!row.change || !row.change->is_certain()) return Tone::kPlain;
  return (row.change->value > 0) == row.more_is_worse ? Tone::kBad : Tone::kGood;
}

/// The change, and its interval below it where both would be too wide.
Cell change_cell(const MeasureRow& row, bool narrow) {
  const std::string text = change_text(row.change);
  const std::size_t interval = text.find(" [");
  if (!narrow || interval == std::string::npos) return {{text}, tone_of(row)};
  return {{text.substr(0, interval), text.substr(interval + 1)}, tone_of(row)};
}

Table measures_table(const Comparison& comparison, bool narrow) {
  Table table;
  table.columns = {{{""}, false}, {{"A"}}, {{"B"}}, {{"change"}}};
  constexpr int kNarrowName = 20;
  for (const MeasureRow* const row : shown_rows(comparison)) {
    const std::string words(row->words);
    Cell name = {narrow ? wrap(words, kNarrowName) : std::vector<std::string>{words}};
    table.rows.push_back({std::move(name),
                          {{value_text(row->a, row->unit)}},
                          {{value_text(row->b, row->unit)}},
                          change_cell(*row, narrow)});
  }
  return table;
}

std::string measures(const Comparison& comparison, const TextOptions& options) {
  Table table = measures_table(comparison, false);
  if (table_width(table) > options.width) table = measures_table(comparison, true);
  return render_table(table, options);
}

std::string parts(const Comparison& comparison, const TextOptions& options) {
  constexpr double kWorthARow = 0.005;
  Table table;
  const std::string of = comparison.by_sample ? "time of a sample" : "time of a step";
  table.columns = {{{of}, false}, {{"A"}}, {{"B"}}, {{"moved"}}};
  for (const compare::PartTime& part : comparison.parts) {
    if (std::max(part.share_a, part.share_b) < kWorthARow) continue;
    const std::string moved = fmt::format("{}{}", part.change_us() < 0 ? "-" : "+",
                                          microseconds_text(std::abs(part.change_us())));
    std::vector<std::string> name = {part.part};
    if (options.width >= 72) name = {fmt::format("{}: {}", part.part, part_words(part.part))};
    table.rows.push_back({{std::move(name)},
                          {{percent_cell(part.share_a)}},
                          {{percent_cell(part.share_b)}},
                          {{moved}}});
  }
  return table.rows.empty() ? std::string() : "\n" + render_table(table, options);
}

std::string costs(const Comparison& comparison, const TextOptions& options) {
  if (!comparison.cost) return {};
  const compare::WorkCost& cost = *comparison.cost;
  Table table;
  table.columns = {
      {{fmt::format("of {}", work_words(cost))}, false}, {{"A"}}, {{"B"}}, {{"change"}}};
  for (const WorkCostRow& row : work_cost_rows(cost)) {
    table.rows.push_back({{{row.name}}, {{row.a}}, {{row.b}}, {{row.change}}});
  }
  if (table.rows.empty()) return {};
  return "\n" + render_table(table, options) +
         hanging("", printable(work_cost_sentence(cost), options), options);
}

std::string findings(const Comparison& comparison, const TextOptions& options) {
  std::string text;
  for (const compare::FindingOf& finding : comparison.came) {
    text += hanging("came: ", printable(finding_text(finding), options), options);
  }
  for (const compare::FindingOf& finding : comparison.went) {
    text += hanging("went: ", printable(finding_text(finding), options), options);
  }
  return text.empty() ? text : "\n" + text;
}

std::string all_differences(const Comparison& comparison, const TextOptions& options) {
  std::string text;
  for (const compare::Difference& difference : comparison.differences) {
    text += hanging("differs: ", printable(difference_text(difference), options), options);
  }
  if (!comparison.script_diff.empty()) {
    text += "differs: the script\n";
    std::istringstream lines(comparison.script_diff);
    for (std::string line; std::getline(lines, line);) {
      const Tone tone = line[0] == '+'   ? Tone::kGood
                        : line[0] == '-' ? Tone::kBad
                        : line[0] == '@' ? Tone::kFaint
                                         : Tone::kPlain;
      for (const std::string& part : wrap(printable(line, options), options.width - 2)) {
        text += "  " + paint(part, tone, options) + "\n";
      }
    }
  }
  return text.empty() ? text : "\n" + text;
}

}  // namespace

std::string render_comparison(const Comparison& comparison, const TextOptions& options) {
  std::string text = hanging("A: ", printable(comparison.a, options), options) +
                     hanging("B: ", printable(comparison.b, options), options) + "\n";
  for (const std::string& line :
       wrap(printable(comparison_sentence(comparison), options), options.width)) {
    text += paint(line, Tone::kStrong, options) + "\n";
  }
  if (const std::string note = noise_note(comparison); !note.empty()) {
    for (const std::string& line : wrap(note, options.width)) {
      text += paint(line, Tone::kFaint, options) + "\n";
    }
  }
  if (comparison.emulated) {
    text += paint("The GPU is emulated: its times are modelled.", Tone::kNotice, options) + "\n";
  }
  return text + "\n" + measures(comparison, options) + parts(comparison, options) +
         costs(comparison, options) + findings(comparison, options) +
         all_differences(comparison, options);
}

}  // namespace unstarve::report
