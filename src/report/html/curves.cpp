#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/number_words.h"
#include "report/buckets.h"
#include "report/html/escape.h"
#include "report/html/scale.h"
#include "report/html/sections.h"
#include "report/html/tracks.h"
#include "report/tracks.h"
#include "report/words/words.h"

namespace unstarve::report {
namespace {

/// About one bucket per two pixels of a wide page: more could not be seen.
constexpr int kBuckets = 480;
/// ... but by who looks closer: report.js draws these.
constexpr int kBucketsOfDetail = 1920;

/// Few points are drawn as they are, many as buckets with their extremes.
std::vector<Bucket> points_of(const Series& series, BucketRange range, int buckets) {
  const std::size_t size = std::min(series.t_s.size(), series.value.size());
  range.count = buckets;
  if (size > static_cast<std::size_t>(buckets)) return bucket_series(series, range);
  std::vector<Bucket> points;
  for (std::size_t i = 0; i < size; ++i) {
    if (!std::isfinite(series.t_s[i])) continue;
    const double value = series.value[i];
    points.push_back({series.t_s[i], value, value, value, !std::isfinite(value)});
  }
  return points;
}

double plot_x(const Scale& time, const Bucket& point) { return plot_x(time, point.t_s); }
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

double mean_of(const Series& series, const Scale& time) {
  const Bucket whole = bucket_series(series, {time.low, time.high, 1}).front();
  return whole.empty ? std::nan("") : whole.mean;
}

/// Drivers tell of the last sixth of a second to the last second: such a curve says nothing.
bool is_too_short(const Scale& time) {
  constexpr double kTooShortS = 3;
  return time.high - time.low < kTooShortS;
}

/// Whether kernels that wait for other GPUs make much of what the driver counts.
bool counts_waiting(const Report& report) {
  constexpr double kMuch = 0.1;
  const std::vector<diagnose::DeviceDiagnosis>& devices = report.diagnosis.devices;
  return std::any_of(devices.begin(), devices.end(), [](const diagnose::DeviceDiagnosis& device) {
    return device.partition.exposed_communication >= kMuch;
  });
}

/// `aside`: stands behind the mean.
std::string curve_html(const Series& series, const Points& points, const Scale& time,
                       const char* aside) {
  const std::string label = escape(series.label);
  const std::string mean = "mean " + percent_cell(mean_of(series, time)) + aside;
  std::string text = fmt::format(
      "<figure class=\"curve\"><figcaption><strong>{}</strong> <span>{}</span>"
      "<output class=\"readout\"></output></figcaption>\n<div class=\"plot\">"
      "<div class=\"y-axis\" aria-hidden=\"true\"><span>100 %</span><span>0 %</span></div>"
      "<svg class=\"timed\" viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\" role=\"img\" "
      "aria-label=\"GPU utilisation, {}: {}\">",
      label, mean, kPlotWidth, kPlotHeight, label, mean);
  text += start_up_svg(time);
  text += fmt::format("<path class=\"grid\" d=\"M{1} 0H{0}M{1} 50H{0}M{1} 100H{0}\"/>", kFarRight,
                      kFarLeft);
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

std::string time_axis_html(const Scale& time) {
  const TimeUnit unit = unit_for(time.high - time.low);
  const Scale scale = {0, (time.high - time.low) / unit.seconds};
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

/// Numbers alone, so that nothing in it needs escaping: report.js reads them. Ratios are in
/// thousandths. `from` to `to`: with what is folded.
std::string points_json(const std::vector<Points>& all, const Scale& time,
                        const BucketRange& whole) {
  std::string text =
      fmt::format("{{\"from\":{:.6f},\"to\":{:.6f},\"start\":{:.6f},\"end\":{:.6f},\"curves\":[",
                  whole.start_s, std::max(whole.end_s, time.high), time.low, time.high);
  const auto thousandths = [](double ratio) {
    return std::lround(std::clamp(ratio, 0.0, 1.0) * 1e3);
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    text += i == 0 ? "[" : ",[";
    bool first = true;
    for (const Bucket& point : all[i]) {
      if (point.empty) continue;
      text += fmt::format("{}[{:.3f},{},{},{}]", first ? "" : ",", point.t_s,
                          thousandths(point.mean), thousandths(point.min), thousandths(point.max));
      first = false;
    }
    text += "]";
  }
  return text + "]}";
}

/// All that is drawn over time.
struct Plots {
  std::vector<Series> series;  // since the training began
  std::vector<Track> tracks;   // likewise
  BucketRange all;             // with the start-up and what follows the last step
  Scale time;                  // without them
};

/// When the last of it ended, where it is a part of the training: a step, a checkpoint behind it.
double end_of(const Track& track) {
  const bool trains =
      track.kind == "step" || track.kind == "evaluation" || track.label == kSavingTrack;
  return trains && !track.stretches.empty() ? track.stretches.back().end_s : 0;
}

Plots plots_of(const Report& report) {
  Plots plots = {since_training(report.utilization), report.tracks, {}, {}};
  const bool is_alone = report.verification.empty() && plots.series.size() == 1;
  if (is_alone) plots.series.front().label = "this run";
  const double from_s = report.training_from_s.value_or(0);
  std::vector<Series> ends = plots.series;
  for (Track& track : plots.tracks) {
    for (Stretch& stretch : track.stretches) {
      stretch.start_s -= from_s;
      stretch.end_s -= from_s;
    }
    if (!track.stretches.empty()) {
      ends.push_back({"", {track.stretches.front().start_s, track.stretches.back().end_s}, {}});
    }
  }
  plots.all = common_range(ends, kBuckets);
  const bool folds = report.training_from_s && plots.all.start_s < 0 && plots.all.end_s > 0;
  plots.time = {folds ? 0 : plots.all.start_s, plots.all.end_s};
  double trained_s = training_end_s(plots.series);
  for (const Track& track : plots.tracks) trained_s = std::max(trained_s, end_of(track));
  if (folds && trained_s > 0) plots.time.high = std::min(plots.time.high, trained_s);
  return plots;
}

/// Whoever has no script sees the training alone, and reads how much there is before it.
std::string tools_html(const Plots& plots) {
  std::string text;
  if (plots.all.start_s < plots.time.low) {
    // Less than that of the curve cannot be seen.
    constexpr double kSeen = 0.01;
    const double behind_s = plots.all.end_s - plots.time.high;
    const std::string behind =
        behind_s > kSeen * (plots.time.high - plots.time.low)
            ? fmt::format(", and {} after the last step", seconds_text(behind_s))
            : "";
    text = fmt::format(
        "<p class=\"folded\">Folded: {} of start-up, imports and warm-up before it{}. "
        "<button type=\"button\" hidden data-view=\"start-up\" aria-pressed=\"false\">Show "
        "them</button></p>\n",
        seconds_text(plots.time.low - plots.all.start_s), behind);
  }
  return text +
         "<div class=\"zoom\" role=\"group\" aria-label=\"Zoom\" hidden>"
         "<button type=\"button\" data-view=\"in\">Zoom in</button>"
         "<button type=\"button\" data-view=\"out\">Zoom out</button>"
         "<button type=\"button\" data-view=\"all\">All</button></div>\n";
}

std::string title_html(const Report& report, bool has_curves) {
  if (!has_curves) return "<h2>The training over time</h2>\n";
  std::string text = "<h2>GPU utilisation over the training";
  if (is_emulated(report)) text += " <span class=\"badge notice\">emulated</span>";
  return text + "</h2>\n";
}

}  // namespace

std::string html_utilization(const Report& report) {
  Plots plots = plots_of(report);
  const Scale& time = plots.time;
  if (!(time.high > time.low)) return {};
  const bool leaves_out = !plots.series.empty() && is_too_short(time);
  if (leaves_out) plots.series.clear();
  const char* const aside = counts_waiting(report) ? ", waiting for other GPUs included" : "";
  std::string drawn;
  std::vector<Points> points;
  for (const Series& series : plots.series) {
    points.push_back(points_of(series, plots.all, kBucketsOfDetail));
    drawn += curve_html(series, points_of(series, plots.all, kBuckets), time, aside);
  }
  std::string text =
      "<section class=\"card\">\n" + title_html(report, !points.empty()) + tools_html(plots);
  text += points.empty() ? std::string("<div class=\"curves\" id=\"curves\">\n")
                         : fmt::format(
                               "<div class=\"curves\" id=\"curves\" tabindex=\"0\" role=\"slider\" "
                               "aria-label=\"Time to read the curves at\" aria-valuemin=\"0\" "
                               "aria-valuemax=\"{:.1f}\" aria-valuenow=\"0\" "
                               "aria-valuetext=\"arrow keys move through the run\">\n",
                               time.high - time.low);
  if (points.size() > 1 && !plots.tracks.empty()) {
    drawn +=
        fmt::format("<p class=\"how\">Meanwhile in {}:</p>\n", escape(plots.series.front().label));
  }
  text += drawn + shares_html(report.shares, report.training_from_s.value_or(0), time) +
          tracks_html(plots.tracks, time) + time_axis_html(time) + "</div>\n";
  if (!points.empty()) {
    text +=
        "<p class=\"note\">As the driver reports it: the part of its window in which any kernel "
        "ran, those of NCCL too, which wait for other GPUs. Computing, among the shares, is less. "
        "Point at the curves, or focus them and use the arrow keys, to read values; drag over "
        "them, or press + and -, to zoom.</p>\n";
  }
  if (leaves_out) {
    text +=
        "<p class=\"note\">Too short for the driver's curve of the GPU: it tells of up to a second "
        "at once.</p>\n";
  }
  return text +
         fmt::format("<script type=\"application/json\" id=\"curve-points\">{}</script>\n",
                     points_json(points, time, plots.all)) +
         "</section>\n";
}

}  // namespace unstarve::report
