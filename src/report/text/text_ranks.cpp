#include <fmt/format.h>

#include "base/number_words.h"
#include "report/terminal/table.h"
#include "report/text/sections.h"
#include "report/words/words.h"

namespace unstarve::report {
namespace {

std::string share_text(const Reading<double>& share) { return share ? percent_cell(*share) : "-"; }

std::vector<Cell> cells_of(const diagnose::RankRow& row, bool late) {
  const Tone tone = late ? Tone::kBad : Tone::kPlain;
  std::vector<Cell> cells;
  for (const std::string& text :
       {row.number ? std::to_string(*row.number) : "-",
        row.device ? std::to_string(*row.device) : "-",
        row.step_us ? microseconds_text(*row.step_us) : "-", share_text(row.input_wait),
        share_text(row.compute), share_text(row.communication), share_text(row.sync),
        share_text(row.host), std::string(late ? "late" : "")}) {
    cells.push_back({{text}, tone});
  }
  return cells;
}

}  // namespace

std::string text_ranks(const Report& report, const TextOptions& options) {
  const diagnose::RankComparison& ranks = report.diagnosis.ranks;
  if (ranks.rows.empty()) return {};
  Table table;
  for (const char* const title :
       {"rank", "GPU", "step", "input", "compute", "comm.", "sync", "host", ""}) {
    table.columns.push_back({{title}, true});
  }
  for (std::size_t i = 0; i < ranks.rows.size(); ++i) {
    const bool late = ranks.straggler && ranks.straggler->row == i;
    table.rows.push_back(cells_of(ranks.rows[i], late));
  }
  std::string text = heading("The ranks beside each other", options);
  if (table_width(table) <= options.width) return text + render_table(table, options);
  for (const diagnose::RankRow& row : ranks.rows) {
    text += hanging("  ",
                    fmt::format("{}: step {}, input {}, communication {}", diagnose::name_of(row),
                                row.step_us ? microseconds_text(*row.step_us) : "-",
                                share_text(row.input_wait), share_text(row.communication)),
                    options);
  }
  return text;
}

}  // namespace unstarve::report
