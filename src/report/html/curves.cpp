#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/number_words.h"
#include "report/buckets.h"
#include "report/html/escape.h"
#include "report/html/scale.h"
#include "report/html/sections.h"
#include "report/words/words.h"

namespace unstarve::report {
namespace {

/// About one bucket per two pixels of a wide page: more could not be seen.
constexpr int kBuckets = 480;
/// The curve's own units, stretched to the plot by the browser.
constexpr double kPlotWidth = 1000;
constexpr double kPlotHeight = 100;

/// Few points are drawn as they are, many as buckets with their extremes.
std::vector<Bucket> points_of(const Series& series, const BucketRange& range) {
  const std::size_t size = std::min(series.t_s.size(), series.value.size());
  if (size > kBuckets) return bucket_series(series, range);
  std::vector<Bucket> points;
  for (std::size_t i = 0; i < size; ++i) {
    if (!std::isfinite(series.t_s[i])) continue;
    const double value = series.value[i];
    points.push_back({series.t_s[i], value, value, value, !std::isfinite(value)});
  }
  return points;
}

double plot_x(const Scale& time, const Bucket& point) {
  return time.position(point.t_s) * kPlotWidth;
}
double plot_y(double ratio) { return kPlotHeight * (1 - std::clamp(ratio, 0.0, 1.0)); }

using Points = std::vector<Bucket>;

/// The stretches of a curve between its gaps.
std::vector<Points> stretches_of(const Points& points) {
  std::vector<Points> stretches(1);
  for (const Bucket& point : points) {
    if (!point.empty) {
      stretches.back().push_back(point);
    } else if (!stretches.back().empty()) {
      stretches.emplace_back();
    }
  }
  if (stretches.back().empty()) stretches.pop_back();
  return stretches;
}

std::string line_path(const Points& points, const Scale& time) {
  std::string path;
  for (const Points& stretch : stretches_of(points)) {
    char command = 'M';
    for (const Bucket& point : stretch) {
      path += fmt::format("{}{:.1f} {:.1f}", command, plot_x(time, point), plot_y(point.mean));
      command = 'L';
    }
    // A lone sample would be a path without length, which is not drawn.
    if (stretch.size() == 1) path += "h1";
  }
  return path;
}

/// The area from `bottom` to `top` of each point, as closed shapes.
std::string area_path(const Points& points, const Scale& time, double Bucket::*top,
                      double Bucket::*bottom) {
  std::string path;
  for (const Points& stretch : stretches_of(points)) {
    char command = 'M';
    for (const Bucket& point : stretch) {
      path += fmt::format("{}{:.1f} {:.1f}", command, plot_x(time, point), plot_y(point.*top));
      command = 'L';
    }
    for (auto point = stretch.rbegin(); point != stretch.rend(); ++point) {
      const double y = bottom == nullptr ? kPlotHeight : plot_y((*point).*bottom);
      path += fmt::format("L{:.1f} {:.1f}", plot_x(time, *point), y);
    }
    path += "Z";
  }
  return path;
}

double mean_of(const Series& series) {
  const Bucket whole = bucket_series(series, common_range({series}, 1)).front();
  return whole.empty ? std::nan("") : whole.mean;
}

std::string curve_html(const Series& series, const Points& points, const Scale& time) {
  const std::string label = escape(series.label);
  const std::string mean = percent_cell(mean_of(series));
  std::string text = fmt::format(
      "<figure class=\"curve\"><figcaption><strong>{}</strong> <span>mean {}</span>"
      "<output class=\"readout\"></output></figcaption>\n<div class=\"plot\">"
      "<div class=\"y-axis\" aria-hidden=\"true\"><span>100 %</span><span>0 %</span></div>"
      "<svg viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\" role=\"img\" "
      "aria-label=\"GPU utilisation, {}: mean {}\">",
      label, mean, kPlotWidth, kPlotHeight, label, mean);
  text += fmt::format("<path class=\"grid\" d=\"M0 0H{0}M0 50H{0}M0 100H{0}\"/>", kPlotWidth);
  text += fmt::format("<path class=\"fill\" d=\"{}\"/>",
                      area_path(points, time, &Bucket::mean, nullptr));
  text += fmt::format("<path class=\"band\" d=\"{}\"/>",
                      area_path(points, time, &Bucket::max, &Bucket::min));
  text += fmt::format("<path class=\"line\" d=\"{}\"/>", line_path(points, time));
  return text +
         "<path class=\"cursor\" d=\"M0 0V100\" visibility=\"hidden\"/></svg></div></figure>\n";
}

/// A unit of time in which an axis of this length has small numbers.
struct TimeUnit {
  double seconds;
  const char* name;
};
TimeUnit unit_for(double range_s) {
  if (range_s <= 180) return {1, "s"};
  return range_s <= 3 * 3600 ? TimeUnit{60, "min"} : TimeUnit{3600, "h"};
}

std::string time_axis_html(const BucketRange& range) {
  const TimeUnit unit = unit_for(range.end_s - range.start_s);
  const Scale scale = {0, (range.end_s - range.start_s) / unit.seconds};
  std::string text =
      "<div class=\"plot x-axis\" aria-hidden=\"true\"><div></div>"
      "<svg width=\"100%\" height=\"18\">";
  for (const double tick : round_ticks(scale, 6)) {
    const double at = scale.position(tick);
    const char* anchor = at < 0.02 ? "start" : at > 0.96 ? "end" : "middle";
    text += fmt::format("<text x=\"{}\" y=\"13\" text-anchor=\"{}\">{:g} {}</text>",
                        svg_percent(at), anchor, tick, unit.name);
  }
  return text + "</svg></div>\n";
}

/// Numbers alone, so that nothing in it needs escaping: report.js reads them for the read-out.
std::string points_json(const std::vector<Points>& all, const BucketRange& range) {
  std::string text =
      fmt::format("{{\"start\":{:.3f},\"end\":{:.3f},\"curves\":[", range.start_s, range.end_s);
  for (std::size_t i = 0; i < all.size(); ++i) {
    text += i == 0 ? "[" : ",[";
    bool first = true;
    for (const Bucket& point : all[i]) {
      if (point.empty) continue;
      text += fmt::format("{}[{:.3f},{:.3f},{:.3f},{:.3f}]", first ? "" : ",", point.t_s,
                          point.mean, point.min, point.max);
      first = false;
    }
    text += "]";
  }
  return text + "]}";
}

}  // namespace

std::string html_utilization(const Report& report) {
  const BucketRange range = common_range(report.utilization, kBuckets);
  if (!(range.end_s > range.start_s)) return {};
  const Scale time = {range.start_s, range.end_s};
  std::string curves;
  std::vector<Points> points;
  for (const Series& series : report.utilization) {
    points.push_back(points_of(series, range));
    curves += curve_html(series, points.back(), time);
  }
  std::string text = "<section class=\"card\">\n<h2>GPU utilisation";
  if (is_emulated(report)) text += " <span class=\"badge notice\">emulated</span>";
  text += fmt::format(
      "</h2>\n<div class=\"curves\" id=\"curves\" tabindex=\"0\" role=\"slider\" "
      "aria-label=\"Time to read the curves at\" aria-valuemin=\"0\" aria-valuemax=\"{0:.1f}\" "
      "aria-valuenow=\"0\" aria-valuetext=\"arrow keys move through the run\">\n",
      range.end_s - range.start_s);
  text += curves + time_axis_html(range) + "</div>\n";
  text +=
      "<p class=\"note\">As the driver reports it: the part of its window in which any kernel "
      "ran, those of NCCL too, which wait for other GPUs. Computing, among the shares, is less. "
      "Point at the curves, or focus them and use the arrow keys, to read values.</p>\n";
  return text +
         fmt::format("<script type=\"application/json\" id=\"curve-points\">{}</script>\n",
                     points_json(points, range)) +
         "</section>\n";
}

}  // namespace unstarve::report
