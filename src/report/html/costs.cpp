#include <fmt/format.h>

#include "report/costs/cost_words.h"
#include "report/html/escape.h"
#include "report/html/sections.h"

namespace unstarve::report {

namespace {

std::string amount_cell(const Reading<double>& value, std::string (*words)(double)) {
  if (!value) return "<td class=\"number absent\">-</td>";
  return fmt::format("<td class=\"number\">{}</td>", escape(words(*value)));
}

std::string row_html(const CostRow& row) {
  const std::string name =
      row.within ? fmt::format("<small>{}</small>", escape(row.name)) : escape(row.name);
  return fmt::format(
      "<tr><th scope=\"row\">{}</th>{}{}{}{}</tr>\n", name,
      amount_cell(row.amount.gpu_hours, gpu_time_text), amount_cell(row.amount.usd, usd_text),
      amount_cell(row.amount.kwh, energy_text), amount_cell(row.amount.co2_kg, mass_text));
}

}  // namespace

std::string html_costs(const Report& report) {
  if (!report.cost) return {};
  const std::vector<CostRow> rows = cost_rows(*report.cost);
  if (rows.empty()) return {};
  std::string text = "<section class=\"card\">\n<h2>What it cost";
  if (report.cost->emulated) text += " <span class=\"badge notice\">modelled</span>";
  text += "</h2>\n";
  if (const std::string sentence = cost_sentence(*report.cost); !sentence.empty()) {
    text +=
        fmt::format("<p><strong>{}</strong>: {}</p>\n", cost_label(*report.cost), escape(sentence));
  }
  text +=
      "<table class=\"legend terms\"><thead><tr><td></td>"
      "<th scope=\"col\" class=\"number\">GPU time</th><th scope=\"col\" class=\"number\">price"
      "</th><th scope=\"col\" class=\"number\">energy</th><th scope=\"col\" class=\"number\">CO2e"
      "</th></tr></thead><tbody>\n";
  for (const CostRow& row : rows) text += row_html(row);
  text += "</tbody></table>\n";
  for (const std::string& note : cost_notes(*report.cost)) {
    text += fmt::format("<p class=\"note\">{}</p>\n", escape(note));
  }
  return text + "</section>\n";
}

}  // namespace unstarve::report
