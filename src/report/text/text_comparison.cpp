#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/number_words.h"
#include "predict/speedup.h"
#include "report/buckets.h"
#include "report/comparison.h"
#include "report/terminal/table.h"
#include "report/text/curve.h"
#include "report/text/sections.h"
#include "report/words/words.h"

namespace unstarve::report {
namespace {

constexpr int kCurveRows = 3;
constexpr int kIndent = 2;
constexpr int kAxisWidth = 6;  // "100 │ "
constexpr int kWidestName = 22;
constexpr int kOtherColumns = 32;  // what the widest of the two narrow tables needs beside names

/// One value per column of the terminal; a column without a sample shows the last one before it,
/// as long as the curve goes on.
std::vector<double> columns_of(const Series& series, const BucketRange& range) {
  const std::vector<Bucket> buckets = bucket_series(series, range);
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> values(buckets.size(), nothing);
  double last = nothing;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    if (!buckets[i].empty) last = buckets[i].mean;
    values[i] = last;
  }
  for (std::size_t i = buckets.size(); i-- > 0 && buckets[i].empty;) values[i] = nothing;
  return values;
}

double mean_of(const Series& series, const BucketRange& range) {
  const Bucket bucket = bucket_series(series, {range.start_s, range.end_s, 1}).front();
  return bucket.empty ? std::numeric_limits<double>::quiet_NaN() : bucket.mean;
}

/// The foot of a line of the curve: 100 % at the top, 0 at the bottom.
std::string axis_label(std::size_t line, std::size_t lines, const TextOptions& options) {
  const std::string_view side = options.unicode ? "│" : "|";
  const std::string_view number = lines == 1          ? ""
                                  : line == 0         ? "100"
                                  : line + 1 == lines ? "0"
                                                      : "";
  return fmt::format("{:>{}} {} ", number, kAxisWidth - 3, side);
}

std::string curve_text(const Series& series, const BucketRange& range, const TextOptions& options) {
  const std::string title =
      fmt::format("{}  mean {}", series.label, percent_cell(mean_of(series, range)));
  std::string text =
      "  " + clip(printable(title, options), options.width - kIndent, options) + "\n";
  const std::vector<std::string> lines =
      render_curve(columns_of(series, range), kCurveRows, options);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t drawn = lines[i].find_last_not_of(' ') + 1;
    std::string axis = axis_label(i, lines.size(), options);
    if (drawn == 0) axis.pop_back();
    text += paint(axis, Tone::kFaint, options) +
            paint(lines[i].substr(0, drawn), Tone::kBusy, options) + "\n";
  }
  return text;
}

/// Where the interval of a speed-up goes: behind the value, or below it to save columns.
enum class IntervalPlace { kBehind, kBelow };

Cell speedup_cell(const predict::Speedup& speedup, IntervalPlace place) {
  if (place == IntervalPlace::kBehind) return {{speedup_text(speedup)}};
  return {{number_text(speedup.speedup) + "x", interval_text(speedup)}};
}

std::string row_name(const ComparisonRow& row) {
  return row.relative_to.empty() ? row.what
                                 : fmt::format("{} (over {})", row.what, row.relative_to);
}

Cell name_cell(const ComparisonRow& row, const TextOptions& options) {
  const int widest = std::clamp(options.width - kOtherColumns, 1, kWidestName);
  std::vector<std::string> lines = wrap(printable(row_name(row), options), widest);
  return {std::move(lines), row.measured ? Tone::kStrong : Tone::kPlain};
}

void add_verdict_columns(const std::vector<ComparisonRow>& rows, IntervalPlace place,
                         Table& table) {
  table.columns.push_back({{"speed-up", "predicted"}, false});
  table.columns.push_back({{"speed-up", "measured"}, false});
  table.columns.push_back({{"held"}, false});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ComparisonRow& row = rows[i];
    Cell predicted;
    if (row.predicted) {
      predicted =
          *row.predicted ? speedup_cell(**row.predicted, place) : Cell{{"none"}, Tone::kFaint};
    }
    table.rows[i].push_back(predicted);
    table.rows[i].push_back(row.measured ? speedup_cell(*row.measured, place) : Cell{});
    Cell held;
    if (row.held) held = {{*row.held ? "yes" : "no"}, *row.held ? Tone::kGood : Tone::kBad};
    table.rows[i].push_back(held);
  }
}

struct MeasuredColumn {
  Column column;
  Reading<double> Measurement::*reading;
  std::string (*format)(double);
};

void add_measured_columns(const std::vector<ComparisonRow>& rows, Table& table) {
  const MeasuredColumn columns[] = {
      {{{"AU"}, true}, &Measurement::au, percent_cell},
      {{{"samples", "/s"}, true}, &Measurement::samples_per_s, number_text},
      {{{"CPU", "cores"}, true}, &Measurement::cpu_cores, number_text},
  };
  for (const MeasuredColumn& measured : columns) {
    if (!any_has(rows, measured.reading)) continue;
    table.columns.push_back(measured.column);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Reading<double>& value = rows[i].measurement.*measured.reading;
      table.rows[i].push_back({{value ? measured.format(*value) : "n/a"}});
    }
  }
  table.columns.push_back({{"step", "ms"}, true});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    table.rows[i].push_back({{number_text(rows[i].measurement.step_us / 1e3)}});
  }
}

Table named_rows(const std::vector<ComparisonRow>& rows, const TextOptions& options) {
  Table table;
  table.columns.push_back({{""}, false});
  for (const ComparisonRow& row : rows) table.rows.push_back({name_cell(row, options)});
  return table;
}

Table whole_table(const std::vector<ComparisonRow>& rows, IntervalPlace place,
                  const TextOptions& options) {
  Table table = named_rows(rows, options);
  add_verdict_columns(rows, place, table);
  add_measured_columns(rows, table);
  return table;
}

std::string indented(const Table& table, const TextOptions& options) {
  std::string text = render_table(table, options);
  std::string shifted;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start) + 1;
    shifted += repeat(" ", kIndent) + text.substr(start, end - start);
    start = end;
  }
  return shifted;
}

/// Too narrow for one table: the speed-ups first, then what changed.
std::string two_tables(const std::vector<ComparisonRow>& rows, const TextOptions& options) {
  std::vector<ComparisonRow> tried;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(tried),
               [](const ComparisonRow& row) { return row.measured.has_value(); });
  Table verdicts = named_rows(tried, options);
  add_verdict_columns(tried, IntervalPlace::kBelow, verdicts);
  Table measured = named_rows(rows, options);
  add_measured_columns(rows, measured);
  return indented(verdicts, options) + "\n" + indented(measured, options);
}

}  // namespace

std::string text_utilization(const Report& report, const TextOptions& options) {
  if (report.utilization.empty()) return {};
  const std::vector<Series> curves = since_training(report.utilization);
  BucketRange range = common_range(curves, options.width - kAxisWidth);
  // What came before the training says nothing of it.
  if (curves.front().training_from_s && range.end_s > 0) {
    range.start_s = std::max(range.start_s, 0.0);
    range.end_s = std::min(range.end_s, training_end_s(curves));
  }
  if (!(range.end_s > range.start_s)) return {};
  const std::string title =
      fmt::format("GPU utilisation over {}{}", seconds_text(range.end_s - range.start_s),
                  is_emulated(report) ? " (emulated GPU)" : "");
  std::string text = heading(title, options);
  for (const Series& series : curves) text += curve_text(series, range, options);
  return text;
}

std::string text_comparison(const Report& report, const TextOptions& options) {
  const std::vector<ComparisonRow> rows = comparison_rows(report.verification);
  if (rows.empty()) return {};
  std::string text = heading(
      is_emulated(report) ? "What was tried, on the emulated GPU" : "What was tried", options);
  for (const IntervalPlace place : {IntervalPlace::kBehind, IntervalPlace::kBelow}) {
    const Table table = whole_table(rows, place, options);
    if (table_width(table) + kIndent <= options.width) {
      return text + indented(table, options);
    }
  }
  return text + two_tables(rows, options);
}

}  // namespace unstarve::report
