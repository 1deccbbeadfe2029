#include "serve/pages/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "report/html/escape.h"
#include "report/html/scale.h"
#include "report/words/json_text.h"

namespace unstarve::serve {

namespace {

/// How many finite samples lie there.
std::size_t samples_in(const report::Series& series, const report::BucketRange& range) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < series.t_s.size(); ++i) {
    const double t = series.t_s[i];
    if (t >= range.start_s && t <= range.end_s && std::isfinite(series.value[i])) ++count;
  }
  return count;
}

/// A field of CSV: quoted, and no formula of a spreadsheet.
std::string csv_field(const std::string& text) {
  std::string quoted = "\"";
  if (!text.empty() && std::string_view("=+-@").find(text.front()) != std::string_view::npos) {
    quoted += '\'';
  }
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c == '\n' || c == '\r' ? ' ' : c;
  }
  return quoted + '"';
}

std::string title_of(const Columns::Column& column) { return column.run + " " + column.subject; }

double largest_of(const Columns& columns) {
  double largest = 0;
  for (const Columns::Column& column : columns.columns) {
    for (const report::Bucket& bucket : column.buckets) {
      if (!bucket.empty) largest = std::max(largest, bucket.max);
    }
  }
  return largest;
}

constexpr double kSvgWidth = 960;
constexpr double kSvgHeight = 320;
constexpr double kLeft = 64;
constexpr double kRight = 16;
constexpr double kTop = 40;
constexpr double kBottom = 48;
constexpr double kLineHeight = 16;

/// The colours of Okabe and Ito, which colour-blind people tell apart.
constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                    "#e69f00", "#56b4e9", "#7a7200", "#000000"};

/// Where things lie in the picture.
struct Frame {
  report::Scale time;
  report::Scale value;
  double x(double t_s) const { return kLeft + time.position(t_s) * (kSvgWidth - kLeft - kRight); }
  double y(double v) const {
    return kTop + (1 - value.position(v)) * (kSvgHeight - kTop - kBottom);
  }
};

std::string axes_svg(const Frame& frame, const std::string& unit) {
  std::string text;
  for (const double tick : report::round_ticks(frame.value, 5)) {
    text += fmt::format(
        "<path d=\"M{} {:.1f}H{}\" stroke=\"#d9dfe6\"/><text x=\"{}\" y=\"{:.1f}\" "
        "text-anchor=\"end\">{:g}</text>\n",
        kLeft, frame.y(tick), kSvgWidth - kRight, kLeft - 8, frame.y(tick) + 4, tick);
  }
  for (const double tick : report::round_ticks(frame.time, 8)) {
    text += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:g} s</text>\n",
                        frame.x(tick), kSvgHeight - kBottom + 20, tick);
  }
  return text + fmt::format("<text x=\"8\" y=\"20\">{}</text>\n", report::escape(unit));
}

/// The mean as a line, and least to largest as an area; a gap ends both.
std::string curve_svg(const Columns::Column& column, const Frame& frame, double factor,
                      const char* colour) {
  std::string line;
  std::string area;
  char command = 'M';
  for (const report::Bucket& bucket : column.buckets) {
    if (bucket.empty) {
      command = 'M';
      continue;
    }
    const double x = frame.x(bucket.t_s);
    line += fmt::format("{}{:.1f} {:.1f}", command, x, frame.y(bucket.mean * factor));
    area += fmt::format("M{:.1f} {:.1f}V{:.1f}", x, frame.y(bucket.min * factor),
                        frame.y(bucket.max * factor));
    command = 'L';
  }
  return fmt::format(
      "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-opacity=\".3\"/>\n"
      "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"/>\n",
      area, colour, line, colour);
}

}  // namespace

ShownUnit shown_unit(const std::string& unit, double largest) {
  constexpr double kThousand = 1e3;
  if (unit == "ratio") return {100, "%"};
  if (unit.rfind("bytes", 0) != 0) return {1, unit};
  const std::string rest = unit.substr(5);
  if (largest >= kThousand * kThousand * kThousand) return {1e-9, "GB" + rest};
  if (largest >= kThousand * kThousand) return {1e-6, "MB" + rest};
  return largest >= kThousand ? ShownUnit{1e-3, "kB" + rest} : ShownUnit{1, unit};
}

Columns columns_of(std::vector<NamedCurve> curves, const ColumnsWish& wish) {
  Columns columns;
  if (curves.empty()) return columns;
  columns.metric = curves.front().metric.name;
  columns.unit = curves.front().metric.unit;
  std::vector<report::Series> all;
  for (NamedCurve& curve : curves) all.push_back(std::move(curve.series));
  if (wish.since == Since::kTraining) {
    all = report::since_training(std::move(all));
    const bool is_since = std::all_of(all.begin(), all.end(), [](const report::Series& series) {
      return series.training_from_s && *series.training_from_s == 0;
    });
    columns.since = is_since ? Since::kTraining : Since::kStart;
  }
  columns.whole = report::common_range(all, 1);
  columns.range = columns.whole;
  if (wish.to_s > wish.from_s) {
    columns.range.start_s = wish.from_s;
    columns.range.end_s = wish.to_s;
  }
  std::size_t densest = 0;
  for (const report::Series& series : all) {
    densest = std::max(densest, samples_in(series, columns.range));
  }
  columns.range.count = std::clamp(static_cast<int>(std::min<std::size_t>(densest / 2, kPointsMax)),
                                   1, std::clamp(wish.points, 1, kPointsMax));
  for (std::size_t i = 0; i < all.size(); ++i) {
    columns.columns.push_back({std::move(curves[i].run), curves[i].metric.subject,
                               report::bucket_series(all[i], columns.range)});
  }
  return columns;
}

std::string columns_json(const Columns& columns) {
  using Json = nlohmann::ordered_json;
  Json document = {{"schema", "unstarve.series/1"},
                   {"metric", columns.metric},
                   {"unit", columns.unit},
                   {"since", columns.since == Since::kTraining ? "training" : "start"},
                   {"from_s", columns.range.start_s},
                   {"to_s", columns.range.end_s},
                   {"whole_from_s", columns.whole.start_s},
                   {"whole_to_s", columns.whole.end_s},
                   {"t_s", Json::array()},
                   {"series", Json::array()}};
  for (const Columns::Column& column : columns.columns) {
    Json low = Json::array();
    Json mean = Json::array();
    Json high = Json::array();
    for (const report::Bucket& bucket : column.buckets) {
      low.push_back(bucket.empty ? Json(nullptr) : Json(bucket.min));
      mean.push_back(bucket.empty ? Json(nullptr) : Json(bucket.mean));
      high.push_back(bucket.empty ? Json(nullptr) : Json(bucket.max));
    }
    document["series"].push_back({{"run", column.run},
                                  {"subject", column.subject},
                                  {"min", std::move(low)},
                                  {"mean", std::move(mean)},
                                  {"max", std::move(high)}});
  }
  if (!columns.columns.empty()) {
    for (const report::Bucket& bucket : columns.columns.front().buckets) {
      document["t_s"].push_back(bucket.t_s);
    }
  }
  return report::without_controls(document.dump(-1, ' ', false, Json::error_handler_t::replace)) +
         "\n";
}

std::string columns_csv(const Columns& columns) {
  std::string text = "t_s";
  for (const Columns::Column& column : columns.columns) {
    for (const char* const what : {" min", " mean", " max"}) {
      text += "," + csv_field(title_of(column) + what);
    }
  }
  text += "\n";
  if (columns.columns.empty()) return text;
  for (std::size_t i = 0; i < columns.columns.front().buckets.size(); ++i) {
    text += fmt::format("{:.3f}", columns.columns.front().buckets[i].t_s);
    for (const Columns::Column& column : columns.columns) {
      const report::Bucket& bucket = column.buckets[i];
      text += bucket.empty ? ",,," : fmt::format(",{},{},{}", bucket.min, bucket.mean, bucket.max);
    }
    text += "\n";
  }
  return text;
}

std::string columns_svg(const Columns& columns) {
  const double largest = largest_of(columns);
  const ShownUnit unit = shown_unit(columns.unit, largest);
  const Frame frame = {{columns.range.start_s, columns.range.end_s},
                       {0, largest > 0 ? largest * unit.factor * 1.05 : 1}};
  const double height = kSvgHeight + kLineHeight * static_cast<double>(columns.columns.size());
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<title>{2}</title>\n<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n",
      kSvgWidth, height, report::escape(columns.metric));
  text += axes_svg(frame, columns.metric + ", " + unit.name);
  for (std::size_t i = 0; i < columns.columns.size(); ++i) {
    const char* const colour = kColours[i % std::size(kColours)];
    text += curve_svg(columns.columns[i], frame, unit.factor, colour);
    text += fmt::format("<text x=\"{}\" y=\"{}\" fill=\"{}\">{}</text>\n", kLeft,
                        kSvgHeight + kLineHeight * static_cast<double>(i), colour,
                        report::escape(title_of(columns.columns[i])));
  }
  return text + "</svg>\n";
}

}  // namespace unstarve::serve
