#include "report/compared/comparison_markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "report/compared/comparison_words.h"
#include "report/terminal/terminal.h"

namespace unstarve::report {

namespace {

/// A fence that the text cannot end.
std::string fenced(const std::string& text) {
  std::size_t longest = 0;
  std::size_t ticks = 0;
  for (const char c : text) {
    ticks = c == '`' ? ticks + 1 : 0;
    longest = std::max(longest, ticks);
  }
  const std::string fence(std::max<std::size_t>(3, longest + 1), '`');
  std::string lines;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    lines += printable(text.substr(from, end - from), {}) + "\n";
    from = end + 1;
  }
  return fmt::format("{}diff\n{}{}\n", fence, lines, fence);
}

/// Below the measures, in the same table.
std::string cost_markdown(const compare::WorkCost& cost) {
  std::string text;
  for (const WorkCostRow& row : work_cost_rows(cost)) {
    text += fmt::format("| {} of {} | {} | {} | {} |\n", row.name, work_words(cost), row.a, row.b,
                        markdown_text(row.change));
  }
  const std::string sentence = work_cost_sentence(cost);
  return sentence.empty() ? text : fmt::format("{}\n{}\n", text, markdown_text(sentence));
}

}  // namespace

std::string markdown_text(const std::string& text) {
  std::string escaped;
  for (const char c : printable(text, {})) {
    constexpr std::string_view kMarkup = "\\`*_{}[]<>()#|!~&@";
    if (kMarkup.find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string comparison_markdown(const compare::Comparison& comparison) {
  std::string text = fmt::format("**{}**\n\n", markdown_text(comparison_sentence(comparison)));
  if (const std::string note = noise_note(comparison); !note.empty()) text += note + "\n\n";
  if (comparison.emulated) text += "The GPU is emulated: its times are modelled.\n\n";
  text += fmt::format("| | A: {} | B: {} | change |\n|---|---:|---:|---:|\n",
                      markdown_text(comparison.a), markdown_text(comparison.b));
  for (const compare::MeasureRow* const row : shown_rows(comparison)) {
    text += fmt::format("| {} | {} | {} | {} |\n", row->words, value_text(row->a, row->unit),
                        value_text(row->b, row->unit), markdown_text(change_text(row->change)));
  }
  if (comparison.cost) text += cost_markdown(*comparison.cost);
  if (comparison.differences.empty() && comparison.script_diff.empty()) return text;
  text += "\n<details><summary>What is not the same</summary>\n\n";
  for (const compare::Difference& difference : comparison.differences) {
    text += fmt::format("- {}\n", markdown_text(difference_text(difference)));
  }
  if (!comparison.script_diff.empty()) text += "\n" + fenced(comparison.script_diff);
  return text + "\n</details>\n";
}

}  // namespace unstarve::report
