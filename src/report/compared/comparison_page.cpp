#include "report/compared/comparison_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/number_words.h"
#include "diagnose/words/wording.h"
#include "report/compared/comparison_words.h"
#include "report/html/escape.h"
#include "report/html/page.h"
#include "report/html/scale.h"
#include "report/words/words.h"

namespace unstarve::report {

namespace {

using compare::Comparison;
using compare::MeasureRow;
using compare::StepCurve;

constexpr double kPlotWide = 1000;
constexpr double kPlotHigh = 200;

/// What both sides' curves lie in.
struct Plot {
  Scale steps = {0, 1};
  Scale time = {0, 1};  // us
};

Plot plot_of(const std::vector<StepCurve>& curves) {
  Plot plot;
  double last = 1;
  double longest = 0;
  for (const StepCurve& curve : curves) {
    for (const StepCurve::Point& point : curve.points) {
      last = std::max(last, point.step);
      longest = std::max(longest, point.time_us);
    }
  }
  plot.steps = {0, last};
  plot.time = {0, longest > 0 ? 1.05 * longest : 1};
  return plot;
}

std::string path_of(const StepCurve& curve, const Plot& plot) {
  std::string path;
  for (const StepCurve::Point& point : curve.points) {
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? 'M' : 'L',
                        kPlotWide * plot.steps.position(point.step),
                        kPlotHigh * (1 - plot.time.position(point.time_us)));
  }
  return curve.points.size() == 1 ? path + "h1" : path;
}

std::string step_axis(const Plot& plot) {
  std::string text =
      "<div class=\"plot x-axis\" aria-hidden=\"true\"><div></div>"
      "<svg width=\"100%\" height=\"18\">";
  for (const double tick : round_ticks(plot.steps, 6)) {
    const double at = plot.steps.position(tick);
    const char* const anchor = at < 0.02 ? "start" : at > 0.96 ? "end" : "middle";
    text += fmt::format("<text x=\"{}\" y=\"13\" text-anchor=\"{}\">{:g}</text>", svg_percent(at),
                        anchor, tick);
  }
  return text + "</svg></div>\n";
}

std::string curves_html(const Comparison& comparison) {
  const Plot plot = plot_of(comparison.curves);
  const char* const of = comparison.by_sample ? "sample" : "step";
  std::string text = fmt::format(
      "<section class=\"card\">\n<h2>Time of a {0}, as the training went on</h2>\n"
      "<figure class=\"curve both\"><figcaption><span class=\"key key-a\">A: {1}</span> "
      "<span class=\"key key-b\">B: {2}</span></figcaption>\n<div class=\"plot\">"
      "<div class=\"y-axis\" aria-hidden=\"true\"><span>{3}</span><span>0</span></div>"
      "<svg viewBox=\"0 0 {4} {5}\" preserveAspectRatio=\"none\" role=\"img\" "
      "aria-label=\"Time of a {0}: A {6}, B {7}\">",
      of, escape(comparison.a), escape(comparison.b), microseconds_text(plot.time.high), kPlotWide,
      kPlotHigh, value_text(comparison.time().a, compare::Unit::kMicroseconds),
      value_text(comparison.time().b, compare::Unit::kMicroseconds));
  text += fmt::format("<path class=\"grid\" d=\"M0 0H{0}M0 {1}H{0}M0 {2}H{0}\"/>", kPlotWide,
                      kPlotHigh / 2, kPlotHigh);
  for (const StepCurve& curve : comparison.curves) {
    text += fmt::format("<path class=\"side {}\" d=\"{}\"/>", curve.of_b ? "b" : "a",
                        path_of(curve, plot));
  }
  return text + "</svg></div></figure>\n" + step_axis(plot) +
         "<p class=\"note\">Steps in training, without the warm-up, in blocks. Each line is a "
         "run.</p>\n</section>\n";
}

std::string bar_of(const Comparison& comparison, const std::string& side,
                   double compare::PartTime::*share) {
  std::string parts;
  std::string spoken;
  double start = 0;
  for (const ShareWord& word : share_words()) {
    const auto found =
        std::find_if(comparison.parts.begin(), comparison.parts.end(),
                     [&](const compare::PartTime& part) { return part.part == word.name; });
    const double width = found == comparison.parts.end() ? 0 : (*found).*share;
    if (width <= 0) continue;
    const std::string says = fmt::format("{} {}", part_words(word.name), percent_cell(width));
    parts += fmt::format(
        "<rect class=\"share {}\" x=\"{}\" width=\"{}\" height=\"36\"><title>{}</title></rect>",
        word.name, svg_percent(start), svg_percent(width), says);
    spoken += (spoken.empty() ? "" : ", ") + says;
    start += width;
  }
  return fmt::format(
      "<div class=\"bar-row\"><p><strong>{0}</strong></p><svg class=\"bar\" width=\"100%\" "
      "height=\"36\" role=\"img\" aria-label=\"{0}: {1}\">{2}</svg></div>\n",
      side, spoken, parts);
}

std::string parts_html(const Comparison& comparison) {
  if (comparison.parts.empty()) return {};
  std::string text = "<section class=\"card\">\n<h2>Where the time goes</h2>\n";
  // What the training thread does, of a job without a GPU's record, stands in the table alone.
  if (comparison.row("gpu_ms_per_step") != nullptr) {
    text += bar_of(comparison, "A", &compare::PartTime::share_a) +
            bar_of(comparison, "B", &compare::PartTime::share_b);
  }
  text +=
      "<table class=\"legend\"><thead><tr><th scope=\"col\">Part</th><th scope=\"col\" "
      "class=\"number\">A</th><th scope=\"col\" class=\"number\">B</th><th scope=\"col\" "
      "class=\"number\">moved</th></tr></thead><tbody>\n";
  constexpr double kWorthARow = 0.0005;
  for (const compare::PartTime& part : comparison.parts) {
    if (std::max(part.share_a, part.share_b) < kWorthARow) continue;
    text += fmt::format(
        "<tr><th scope=\"row\"><svg class=\"swatch\" width=\"12\" height=\"12\" "
        "aria-hidden=\"true\"><rect class=\"share {0}\" width=\"12\" height=\"12\" rx=\"2\"/></svg>"
        " {1}</th><td class=\"number\">{2}</td><td class=\"number\">{3}</td>"
        "<td class=\"number\">{4}{5}</td></tr>\n",
        escape(part.part), part_words(part.part), percent_cell(part.share_a),
        percent_cell(part.share_b), part.change_us() < 0 ? "&minus;" : "+",
        microseconds_text(std::abs(part.change_us())));
  }
  return text + "</tbody></table>\n</section>\n";
}

/// "good" or "bad" where the change is certain; else nothing.
std::string_view tone_of_change(const MeasureRow& row) {
  if (!row.change || !row.change->is_certain()) return "";
  return (row.change->value > 0) == row.more_is_worse ? "bad" : "good";
}

std::string measures_html(const Comparison& comparison) {
  std::string text =
      "<section class=\"card\">\n<h2>Measures</h2>\n<table class=\"comparison\"><thead><tr>"
      "<th scope=\"col\">of the steps in training</th><th scope=\"col\" class=\"number\">A</th>"
      "<th scope=\"col\" class=\"number\">B</th><th scope=\"col\" class=\"number\">change</th>"
      "</tr></thead><tbody>\n";
  for (const MeasureRow* const row : shown_rows(comparison)) {
    const std::string_view tone = tone_of_change(*row);
    const std::string change = tone.empty() ? change_text(row->change)
                                            : fmt::format("<span class=\"badge {}\">{}</span>",
                                                          tone, change_text(row->change));
    text += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"number\" data-label=\"A\">{}</td>"
        "<td class=\"number\" data-label=\"B\">{}</td>"
        "<td class=\"number\" data-label=\"change\">{}</td></tr>\n",
        row->words, value_text(row->a, row->unit), value_text(row->b, row->unit), change);
  }
  return text + "</tbody></table>\n<p class=\"note\">Intervals hold 90 %.</p>\n</section>\n";
}

std::string differences_html(const Comparison& comparison) {
  std::string text;
  for (const compare::Difference& difference : comparison.differences) {
    text += fmt::format("<li>{}</li>\n", escape(difference_text(difference)));
  }
  if (!text.empty()) text = "<ul class=\"evidence\">\n" + text + "</ul>\n";
  if (!comparison.script_diff.empty()) {
    text += "<h3>The script</h3>\n<div class=\"edit\">";
    for (std::size_t from = 0; from < comparison.script_diff.size();) {
      const std::size_t end = comparison.script_diff.find('\n', from);
      text +=
          fmt::format("<code>{}</code>", escape(comparison.script_diff.substr(from, end - from)));
      from = end == std::string::npos ? comparison.script_diff.size() : end + 1;
    }
    text += "</div>\n";
  }
  if (text.empty()) return text;
  return "<section class=\"card\">\n<h2>What is not the same</h2>\n" + text + "</section>\n";
}

std::string findings_html(const Comparison& comparison) {
  std::string text;
  for (const compare::FindingOf& finding : comparison.came) {
    text += fmt::format("<li>came: {}</li>\n", escape(finding_text(finding)));
  }
  for (const compare::FindingOf& finding : comparison.went) {
    text += fmt::format("<li>went: {}</li>\n", escape(finding_text(finding)));
  }
  if (text.empty()) return text;
  return "<section class=\"card\">\n<h2>Findings that came and went</h2>\n<ul "
         "class=\"evidence\">\n" +
         text + "</ul>\n</section>\n";
}

std::string sentence_html(const Comparison& comparison) {
  std::string text = fmt::format(
      "<section class=\"card verdict {}\">\n<p class=\"eyebrow\">{} against {}</p>\n<h1>{}</h1>\n",
      comparison.moved ? escape(comparison.moved->part.part) : "", escape(comparison.b),
      escape(comparison.a), with_whole_percents(escape(comparison_headline(comparison))));
  if (const std::string cause = comparison_cause(comparison); !cause.empty()) {
    text += fmt::format("<p>{}.</p>\n", escape(diagnose::capitalised(cause)));
  }
  if (const std::string note = noise_note(comparison); !note.empty()) {
    text += fmt::format("<p class=\"note\">{}</p>\n", escape(note));
  }
  return text + "</section>\n";
}

}  // namespace

std::string comparison_page(const std::vector<Comparison>& comparisons, const std::string& links) {
  PageContents page;
  page.links = links;
  page.footer = "Made by unstarve. This file is complete in itself: it loads nothing.";
  bool emulated = false;
  for (const Comparison& comparison : comparisons) {
    emulated = emulated || comparison.emulated;
    page.body += sentence_html(comparison) + curves_html(comparison) + parts_html(comparison) +
                 measures_html(comparison) + findings_html(comparison) +
                 differences_html(comparison);
  }
  if (!comparisons.empty()) {
    page.title =
        fmt::format("unstarve: {} against {}", comparisons.front().b, comparisons.front().a);
    page.subtitle =
        fmt::format("{} against {}", escape(comparisons.front().b), escape(comparisons.front().a));
  }
  if (emulated) {
    page.subtitle += " <span class=\"badge notice\">emulated GPU</span>";
    page.footer += " The GPU was <strong>emulated</strong>: its times are modelled.";
  }
  return fill_page(page);
}

}  // namespace unstarve::report
