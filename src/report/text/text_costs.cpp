#include <fmt/format.h>

#include "report/costs/cost_words.h"
#include "report/terminal/table.h"
#include "report/text/sections.h"

namespace unstarve::report {

namespace {

Cell text_cell(const Reading<double>& value, std::string (*words)(double)) {
  return {{value ? words(*value) : std::string("-")}};
}

Table costs_table(const cost::Cost& cost) {
  Table table;
  table.columns = {{{""}, false}, {{"GPU time"}}, {{"price"}}, {{"energy"}}, {{"CO2e"}}};
  for (const CostRow& row : cost_rows(cost)) {
    table.rows.push_back({{{(row.within ? "  " : "") + row.name}},
                          text_cell(row.amount.gpu_hours, gpu_time_text),
                          text_cell(row.amount.usd, usd_text),
                          text_cell(row.amount.kwh, energy_text),
                          text_cell(row.amount.co2_kg, mass_text)});
  }
  return table;
}

/// A line for each row, for a narrow terminal: its GPU time alone.
std::string costs_list(const cost::Cost& cost, const TextOptions& options) {
  std::string text;
  for (const CostRow& row : cost_rows(cost)) {
    const Reading<double>& hours = row.amount.gpu_hours;
    text += hanging("  ", fmt::format("{}: {}", row.name, hours ? gpu_time_text(*hours) : "-"),
                    options);
  }
  return text;
}

}  // namespace

std::string text_costs(const Report& report, const TextOptions& options) {
  if (!report.cost) return {};
  const Table table = costs_table(*report.cost);
  if (table.rows.empty()) return {};
  std::string text = heading("What it cost", options);
  text += table_width(table) <= options.width ? render_table(table, options)
                                              : costs_list(*report.cost, options);
  for (const std::string& note : cost_notes(*report.cost)) {
    text += hanging("  ", printable(note, options), options);
  }
  return text;
}

}  // namespace unstarve::report
