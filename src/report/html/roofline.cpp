#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/number_words.h"
#include "base/units.h"
#include "report/html/escape.h"
#include "report/html/sections.h"
#include "report/roofline/position_words.h"
#include "report/roofline/roofline_axes.h"
#include "report/words/words.h"

namespace unstarve::report {
namespace {

// The plot's own units; the browser scales all of it, its words too.
constexpr double kWidth = 720;
constexpr double kHeight = 320;
constexpr double kLeft = 104;
constexpr double kRight = 12;
constexpr double kTop = 18;
constexpr double kBottom = 44;
constexpr std::size_t kMostRoofs = 5;

double plot_x(const RooflineAxes& axes, double flop_per_byte) {
  return kLeft + axes.x(flop_per_byte) * (kWidth - kLeft - kRight);
}
double plot_y(const RooflineAxes& axes, double flop_per_s) {
  return kTop + (1 - axes.y(flop_per_s)) * (kHeight - kTop - kBottom);
}

/// Lines and labels at each power of ten.
std::string grid_svg(const RooflineAxes& axes) {
  std::string lines;
  std::string labels;
  for (double x = axes.low_x; x <= axes.high_x * 1.001; x *= 10) {
    lines += fmt::format("M{:.1f} {}V{}", plot_x(axes, x), kTop, kHeight - kBottom);
    labels += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:g}</text>",
                          plot_x(axes, x), kHeight - kBottom + 18, x);
  }
  for (double y = axes.low_y; y <= axes.high_y * 1.001; y *= 10) {
    lines += fmt::format("M{} {:.1f}H{}", kLeft, plot_y(axes, y), kWidth - kRight);
    labels += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", kLeft - 8,
                          plot_y(axes, y) + 4, rate_text(y, "flop/s"));
  }
  labels += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">FLOP a byte</text>",
                        kWidth - kRight, kHeight - 6);
  return fmt::format("<path class=\"grid\" d=\"{}\"/>{}", lines, labels);
}

std::string slope_svg(const RooflineAxes& axes, const roofline::UsedRoof& memory) {
  const double top = axes.plateaus.front().roof.value;
  const double from = std::max(axes.low_x, axes.low_y / axes.bytes_per_s);
  const double x = plot_x(axes, from);
  const double y = plot_y(axes, from * axes.bytes_per_s);
  return fmt::format(
      "<path class=\"roof memory\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>"
      "<text x=\"{:.1f}\" y=\"{:.1f}\">memory {}</text>",
      x, y, plot_x(axes, top / axes.bytes_per_s), plot_y(axes, top), x + 14, y + 6,
      escape(roof_text(memory)));
}

/// A flat roof with its name above it, and a mark where the memory's slope meets it.
std::string plateau_svg(const RooflineAxes& axes, const Plateau& plateau) {
  const double x = plot_x(axes, plateau.ridge);
  const double y = plot_y(axes, plateau.roof.value);
  const bool measured = plateau.roof.source != roofline::RoofSource::kSpecification;
  return fmt::format(
      "<path class=\"roof{}\" d=\"M{:.1f} {:.1f}H{}\"/><circle class=\"ridge\" cx=\"{:.1f}\" "
      "cy=\"{:.1f}\" r=\"3\"><title>ridge: {:.3g} FLOP a byte</title></circle>"
      "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{} {}</text>",
      measured ? "" : " specified", x, y, kWidth - kRight, x, y, plateau.ridge, kWidth - kRight,
      y - 5, escape(plateau.dtype), escape(roof_text(plateau.roof)));
}

std::string point_svg(const RooflineAxes& axes, const roofline::Position& position) {
  if (!position.flop_per_s || !position.flop_per_byte) return {};
  const double x = plot_x(axes, *position.flop_per_byte);
  const double y = plot_y(axes, *position.flop_per_s);
  return fmt::format(
      "<circle class=\"job\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"6\"><title>{}</title></circle>"
      "<text class=\"job-name\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">the job</text>",
      x, y, escape(point_words(position)), x, y + 22);
}

std::string plot_html(const roofline::Position& position) {
  const RooflineAxes axes = roofline_axes(position, kMostRoofs);
  if (axes.plateaus.empty()) return {};
  std::string svg = fmt::format(
      "<svg class=\"roofline\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Roofline, both "
      "axes logarithmic; {}\">",
      kWidth, kHeight, escape(point_words(position)));
  svg += grid_svg(axes) + slope_svg(axes, *position.roofs.any_memory());
  for (const Plateau& plateau : axes.plateaus) svg += plateau_svg(axes, plateau);
  return svg + point_svg(axes, position) + "</svg>\n";
}

std::string term_row(const roofline::Term& term) {
  const std::string name = escape(term_words(term.name));
  if (!term.why_absent.empty()) {
    return fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"absent\" colspan=\"4\">{}</td></tr>\n", name,
        escape(term.why_absent));
  }
  return fmt::format(
      "<tr><th scope=\"row\">{}</th><td class=\"number\">{}</td><td class=\"number\">{}</td>"
      "<td class=\"number\">{}</td><td>{}</td></tr>\n",
      name, escape(amount_text(term)), escape(seconds_text(term.least_s)), percent_cell(term.share),
      escape(roof_text(term.roof)));
}

}  // namespace

std::string html_roofline(const Report& report) {
  if (!report.position) return {};
  const roofline::Position& position = *report.position;
  std::string text = "<section class=\"card\">\n<h2>Under the roofs of this machine";
  if (position.device.modelled) text += " <span class=\"badge notice\">modelled</span>";
  text += fmt::format("</h2>\n<p>{} {}</p>\n", escape(bound_sentence(position)),
                      position.flop_per_s ? escape(utilization_sentence(position)) : "");
  text += plot_html(position);
  text +=
      "<table class=\"legend terms\"><thead><tr><th scope=\"col\">A step</th>"
      "<th scope=\"col\" class=\"number\">does</th><th scope=\"col\" class=\"number\">at least"
      "</th><th scope=\"col\" class=\"number\">of the step</th><th scope=\"col\">under</th></tr>"
      "</thead><tbody>\n";
  for (const roofline::Term& term : position.terms) text += term_row(term);
  text += "</tbody></table>\n";
  for (const std::string& note : position.notes) {
    text += fmt::format("<p class=\"note\">{}</p>\n", escape(note));
  }
  return text + "</section>\n";
}

}  // namespace unstarve::report
