#include "report/html/tracks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "report/html/escape.h"

namespace unstarve::report {
namespace {

/// More are drawn as how much of each piece of time they fill.
constexpr std::size_t kMostDrawn = 400;
constexpr std::size_t kPieces = 480;
constexpr double kSeparate = 0.9;  // of stretches that follow each other
constexpr double kNarrowest = 1;   // a moment can still be seen

struct Box {
  double x = 0;
  double width = 0;
  double height = kPlotHeight;
};

std::string box_path(const Box& box) {
  return fmt::format("M{:.1f} 100v-{:.0f}h{:.1f}V100z", box.x, box.height, box.width);
}

/// Each stretch by itself.
std::string exact_path(const Track& track, const Scale& time) {
  std::vector<double> lengths;
  for (const Stretch& stretch : track.stretches) lengths.push_back(stretch.end_s - stretch.start_s);
  // The first step holds the warm-up, beside which no other is seen.
  const auto from = lengths.begin() + (lengths.size() > 1 ? 1 : 0);
  const double longest = lengths.empty() ? 0 : *std::max_element(from, lengths.end());
  std::string path;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    Box box{plot_x(time, track.stretches[i].start_s), 0};
    box.width = std::max(plot_x(time, track.stretches[i].end_s) - box.x, kNarrowest);
    if (track.by_length) box.width *= kSeparate;
    if (track.by_length && longest > 0) {
      box.height = kPlotHeight * std::clamp(lengths[i] / longest, 0.05, 1.0);
    }
    path += box_path(box);
  }
  return path;
}

/// How much of each piece of the scale the stretches fill; of a track by length the longest in it.
std::string summed_path(const Track& track, const Scale& time) {
  const double piece_s = (time.high - time.low) / static_cast<double>(kPieces);
  std::vector<double> filled(kPieces, 0);
  double longest = 0;
  for (const Stretch& stretch : track.stretches) {
    const double length = stretch.end_s - stretch.start_s;
    const double first = std::floor((stretch.start_s - time.low) / piece_s);
    for (double piece = std::max(first, 0.0); piece < static_cast<double>(kPieces); ++piece) {
      const double from = time.low + piece * piece_s;
      if (from >= stretch.end_s) break;
      double& sum = filled[static_cast<std::size_t>(piece)];
      const double within =
          std::min(stretch.end_s, from + piece_s) - std::max(stretch.start_s, from);
      sum = track.by_length ? std::max(sum, length) : sum + within / piece_s;
      if (first >= 0) longest = std::max(longest, length);
    }
  }
  std::string path;
  for (std::size_t i = 0; i < kPieces; ++i) {
    const double part = track.by_length && longest > 0 ? filled[i] / longest : filled[i];
    if (part < 0.005) continue;
    const double width = kPlotWidth / static_cast<double>(kPieces);
    path += box_path({static_cast<double>(i) * width, width, kPlotHeight * std::min(part, 1.0)});
  }
  return path;
}

std::string track_html(const Track& track, const Scale& time) {
  const std::string path =
      track.stretches.size() > kMostDrawn ? summed_path(track, time) : exact_path(track, time);
  const std::string label = escape(track.label);
  const std::string said = escape(track.said);
  return fmt::format(
      "<figure class=\"track\"><figcaption><strong>{0}</strong> <span>{1}</span></figcaption>\n"
      "<div class=\"plot\"><div></div><svg class=\"timed\" viewBox=\"0 0 {2} {3}\" "
      "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{0}: {1}\">{4}"
      "<path class=\"share {5}\" d=\"{6}\"/></svg></div></figure>\n",
      label, said, kPlotWidth, kPlotHeight, start_up_svg(time), escape(track.kind), path);
}

}  // namespace

double plot_x(const Scale& time, double t_s) {
  const double fraction = (t_s - time.low) / (time.high - time.low);
  return std::isfinite(fraction) ? fraction * kPlotWidth : 0;
}

std::string start_up_svg(const Scale& time) {
  if (time.low != 0) return {};
  return fmt::format(
      "<rect class=\"start-up\" x=\"{0}\" width=\"{1}\" height=\"{2}\"/>"
      "<rect class=\"start-up\" x=\"{3}\" width=\"{4}\" height=\"{2}\"/>",
      kFarLeft, -kFarLeft, kPlotHeight, kPlotWidth, kFarRight - kPlotWidth);
}

std::string shares_html(const diagnose::PartitionOverTime& shares, double from_s,
                        const Scale& time) {
  if (shares.parts.empty()) return {};
  const std::size_t pieces = shares.parts.front().shares.size();
  const double start_s = static_cast<double>(shares.span.start_ns) * kSecondsPerNs - from_s;
  const double width_s = static_cast<double>(shares.span.duration_ns()) * kSecondsPerNs /
                         static_cast<double>(std::max<std::size_t>(pieces, 1));
  std::vector<double> below(pieces, 0);
  std::string paths;
  for (const diagnose::PartitionOverTime::Part& part : shares.parts) {
    std::string path;
    for (std::size_t i = 0; i < pieces; ++i) {
      const double share = part.shares[i];
      if (!(share > 0)) continue;
      const double from = plot_x(time, start_s + static_cast<double>(i) * width_s);
      const double to = plot_x(time, start_s + static_cast<double>(i + 1) * width_s);
      path +=
          fmt::format("M{:.1f} {:.1f}V{:.1f}H{:.1f}V{:.1f}z", from, kPlotHeight * (1 - below[i]),
                      kPlotHeight * (1 - below[i] - share), to, kPlotHeight * (1 - below[i]));
      below[i] += share;
    }
    paths += fmt::format("<path class=\"share {0}\" d=\"{1}\"><title>{0}</title></path>",
                         escape(part.cause), path);
  }
  constexpr const char* kSaid = "the shares of each moment; the table has those of all of it";
  return fmt::format(
      "<figure class=\"track shares\"><figcaption><strong>where the time goes</strong> "
      "<span>{0}</span></figcaption>\n<div class=\"plot\"><div></div><svg class=\"timed\" "
      "viewBox=\"0 0 {1} {2}\" preserveAspectRatio=\"none\" role=\"img\" "
      "aria-label=\"where the time goes: {0}\">{3}{4}</svg></div></figure>\n",
      kSaid, kPlotWidth, kPlotHeight, start_up_svg(time), paths);
}

std::string tracks_html(const std::vector<Track>& tracks, const Scale& time) {
  std::string text;
  for (const Track& track : tracks) text += track_html(track, time);
  return text;
}

}  // namespace unstarve::report
