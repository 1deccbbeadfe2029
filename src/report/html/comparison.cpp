#include "report/comparison.h"
#include "base/number_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "predict/speedup.h"
#include "report/html/escape.h"
#include "report/html/scale.h"
#include "report/html/sections.h"
#include "report/html/terms.h"
#include "report/words/words.h"

namespace unstarve::report {
namespace {

constexpr double kThinnest = 0.004;  // of the plot: an interval without width can still be seen

std::string held_badge(bool held) {
  return held ? "<span class=\"badge good\">&#10003; held</span>"
              : "<span class=\"badge bad\">&#10007; did not hold</span>";
}

/// From 1x, or from 0 when something became slower, to just above the largest interval.
Scale speedup_scale(const std::vector<Verification>& verification) {
  double low = 1;
  double high = 1;
  const auto widen = [&](const predict::Speedup& speedup) {
    for (const double value : {speedup.low, speedup.speedup, speedup.high}) {
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  };
  for (const Verification& tried : verification) {
    if (tried.predicted) widen(*tried.predicted);
    widen(tried.measured);
  }
  const double start = low < 1 ? 0 : 1;
  return {start, high + 0.05 * std::max(high - start, 0.1)};
}

/// Where one of the two bars of a remedy lies, in pixels.
struct Lane {
  const char* kind;  // class in report.css
  int top;
};
constexpr Lane kPredicted = {"predicted", 3};
constexpr Lane kMeasured = {"measured", 25};
constexpr int kLaneHeight = 14;
constexpr int kPredictionHeight = 42;

/// A faint bar from "no change" to the value, on it the interval, on that the value.
std::string interval_svg(const predict::Speedup& speedup, const Scale& scale, const Lane& lane) {
  const double unchanged = scale.position(1);
  const double value = scale.position(speedup.speedup);
  const double low = scale.position(speedup.low);
  const double width = std::max(scale.position(speedup.high) - low, kThinnest);
  std::string text =
      fmt::format("<rect class=\"reach\" x=\"{}\" width=\"{}\" y=\"{}\" height=\"{}\"/>",
                  svg_percent(std::min(unchanged, value)), svg_percent(std::abs(value - unchanged)),
                  lane.top, kLaneHeight);
  text += fmt::format(
      "<rect class=\"interval {}\" x=\"{}\" width=\"{}\" y=\"{}\" height=\"{}\" rx=\"3\"/>",
      lane.kind, svg_percent(low), svg_percent(width), lane.top, kLaneHeight);
  return text + fmt::format("<circle class=\"point {}\" cx=\"{}\" cy=\"{}\" r=\"4\"/>", lane.kind,
                            svg_percent(value), lane.top + kLaneHeight / 2);
}

/// Few enough for a telephone; 1x, no change, is always among them.
std::vector<double> speedup_ticks(const Scale& scale) {
  std::vector<double> ticks = round_ticks(scale, 6);
  const bool has_one =
      std::any_of(ticks.begin(), ticks.end(), [](double t) { return std::abs(t - 1) < 1e-9; });
  if (!has_one) ticks.insert(ticks.begin(), 1);
  return ticks;
}

std::string grid_svg(const Scale& scale) {
  std::string text;
  for (const double tick : speedup_ticks(scale)) {
    text += fmt::format("<line class=\"grid\" x1=\"{0}\" x2=\"{0}\" y1=\"0\" y2=\"{1}\"/>",
                        scale.percent(tick), kPredictionHeight);
  }
  return text;
}

std::string axis_html(const Scale& scale) {
  std::string text =
      "<svg class=\"speedup-axis\" width=\"100%\" height=\"18\" aria-hidden=\"true\">";
  for (const double tick : speedup_ticks(scale)) {
    const double at = scale.position(tick);
    text += fmt::format("<text x=\"{}\" y=\"13\" text-anchor=\"{}\">{:g}x</text>", svg_percent(at),
                        at < 0.02   ? "start"
                        : at > 0.96 ? "end"
                                    : "middle",
                        tick);
  }
  return text + "</svg>\n";
}

std::string prediction_html(const Verification& tried, const Scale& scale) {
  const std::string measured = speedup_text(tried.measured);
  const std::string predicted = tried.predicted
                                    ? speedup_text(*tried.predicted)
                                    : std::string(why_words(tried.predicted.why_absent()));
  std::string text =
      fmt::format("<div class=\"prediction\"><p><strong>{}</strong> {}</p>\n", escape(tried.remedy),
                  tried.predicted ? held_badge(tried.held) : "");
  if (!tried.how.empty()) text += fmt::format("<p class=\"how\">{}</p>\n", escape(tried.how));
  text += fmt::format(
      "<svg width=\"100%\" height=\"{}\" role=\"img\" "
      "aria-label=\"{}: predicted {}, measured {}\">{}",
      kPredictionHeight, escape(tried.remedy), predicted, measured, grid_svg(scale));
  if (tried.predicted) text += interval_svg(*tried.predicted, scale, kPredicted);
  text += interval_svg(tried.measured, scale, kMeasured) + "</svg>\n";
  return text + fmt::format(
                    "<p class=\"numbers\"><span>predicted {}</span> "
                    "<span>measured {}</span></p></div>\n",
                    predicted, measured);
}

std::string cell(const char* label, const std::string& content) {
  return fmt::format("<td class=\"number\" data-label=\"{}\">{}</td>", label, content);
}

/// A column of the table that shows one reading of each row.
struct ReadingColumn {
  const char* title;
  Reading<double> Measurement::*reading;
  std::string (*format)(double);
};
constexpr ReadingColumn kReadingColumns[] = {
    {"AU", &Measurement::au, percent_cell},
    {"Samples/s", &Measurement::samples_per_s, number_text},
    {"CPU cores", &Measurement::cpu_cores, number_text},
};

std::string reading_cell(const ReadingColumn& column, const ComparisonRow& row) {
  const Reading<double>& value = row.measurement.*column.reading;
  return cell(column.title, value ? column.format(*value)
                                  : fmt::format("<span class=\"absent\">{}</span>",
                                                why_words(value.why_absent())));
}

std::string speedup_cells(const ComparisonRow& row) {
  if (!row.measured)
    return "<td class=\"none\"></td><td class=\"none\"></td><td class=\"none\"></td>";
  const std::string predicted = row.predicted && *row.predicted
                                    ? speedup_text(**row.predicted)
                                    : "<span class=\"absent\">none</span>";
  return cell("Predicted", predicted) + cell("Measured", speedup_text(*row.measured)) +
         (row.held ? cell("Held", *row.held ? "yes" : "no") : "<td class=\"none\"></td>");
}

std::string row_html(const ComparisonRow& row, const std::vector<ReadingColumn>& columns) {
  std::string name = escape(row.what);
  if (!row.relative_to.empty()) {
    name += fmt::format(" <small>over {}</small>", escape(row.relative_to));
  }
  std::string text = fmt::format("<tr><th scope=\"row\">{}</th>{}", name, speedup_cells(row));
  for (const ReadingColumn& column : columns) text += reading_cell(column, row);
  return text + cell("Step", microseconds_text(row.measurement.step_us)) + "</tr>\n";
}

std::string table_html(const std::vector<ComparisonRow>& rows) {
  std::vector<ReadingColumn> columns;
  for (const ReadingColumn& column : kReadingColumns) {
    if (any_has(rows, column.reading)) columns.push_back(column);
  }
  std::string text = "<table class=\"comparison\"><thead><tr><td></td>";
  std::vector<const char*> titles = {"Predicted", "Measured", "Held"};
  for (const ReadingColumn& column : columns) titles.push_back(column.title);
  titles.push_back("Step");
  for (const char* title : titles) {
    text += fmt::format("<th scope=\"col\" class=\"number\">{}</th>", explained(title));
  }
  text += "</tr></thead><tbody>\n";
  for (const ComparisonRow& row : rows) text += row_html(row, columns);
  return text + "</tbody></table>\n";
}

}  // namespace

std::string html_comparison(const Report& report) {
  if (report.verification.empty()) return {};
  std::string text = "<section class=\"card\">\n<h2>What was tried";
  if (is_emulated(report)) text += " <span class=\"badge notice\">on the emulated GPU</span>";
  text += "</h2>\n";
  const Scale scale = speedup_scale(report.verification);
  for (const Verification& tried : report.verification) text += prediction_html(tried, scale);
  text += axis_html(scale);
  text +=
      "<p class=\"note\">Speed-up: old step time / new step time. Above is predicted, open; "
      "below is measured, solid. Each bar is an interval, its dot the estimate.</p>\n";
  return text + table_html(comparison_rows(report.verification)) + "</section>\n";
}

}  // namespace unstarve::report
