#include <fmt/format.h>

#include <algorithm>

#include "base/number_words.h"
#include "report/headline.h"
#include "report/html/escape.h"
#include "report/html/scale.h"
#include "report/html/sections.h"
#include "report/words/words.h"

namespace unstarve::report {
namespace {

constexpr int kLabelFrom = 160;       // thousandths of the bar that hold a number on a telephone
constexpr int kNamedLabelFrom = 480;  // that also hold a name

/// One bar: what it stands for and its shares.
struct Bar {
  std::string label;
  std::string note;  // "203.4 ms per step", or empty
  std::vector<RoundedShare> shares;
};

std::string bar_label(const RoundedShare& share) {
  if (share.per_mille < kLabelFrom) return {};
  const std::string number = per_mille_text(share.per_mille);
  return share.per_mille < kNamedLabelFrom ? number
                                           : fmt::format("{} {}", share.word->name, number);
}

std::string bar_svg(const Bar& bar) {
  std::string spoken;
  std::string parts;
  int start = 0;
  for (const RoundedShare& share : bar.shares) {
    const std::string number = per_mille_text(share.per_mille);
    spoken += fmt::format("{}{} {}", spoken.empty() ? "" : ", ", share.word->name, number);
    parts += fmt::format(
        "<rect class=\"share {0}\" x=\"{1}\" width=\"{2}\" height=\"36\">"
        "<title>{0}: {3}</title></rect>",
        share.word->name, svg_percent(start / 1000.0), svg_percent(share.per_mille / 1000.0),
        number);
    if (const std::string label = bar_label(share); !label.empty()) {
      parts +=
          fmt::format("<text class=\"on-share {}\" x=\"{}\" y=\"23\">{}</text>", share.word->name,
                      svg_percent((start + share.per_mille / 2.0) / 1000.0), label);
    }
    start += share.per_mille;
  }
  return fmt::format(
      "<svg class=\"bar\" width=\"100%\" height=\"36\" role=\"img\" "
      "aria-label=\"{}: {}\">{}</svg>",
      escape(bar.label), spoken, parts);
}

std::string bar_html(const Bar& bar) {
  std::string text =
      fmt::format("<div class=\"bar-row\"><p><strong>{}</strong>", escape(bar.label));
  if (!bar.note.empty()) text += fmt::format(" <span>{}</span>", escape(bar.note));
  return text + "</p>" + bar_svg(bar) + "</div>\n";
}

int share_in(const Bar& bar, const ShareWord& word) {
  const auto share = std::find_if(bar.shares.begin(), bar.shares.end(),
                                  [&](const RoundedShare& s) { return s.word == &word; });
  return share == bar.shares.end() ? 0 : share->per_mille;
}

/// Escaped, and allowed to go on in the next line after an underscore.
std::string breakable(const std::string& label) {
  std::string text;
  for (const char c : escape(label)) text += c == '_' ? std::string("_<wbr>") : std::string(1, c);
  return text;
}

/// The legend is a table with one column of numbers per bar, so that the bars can be read exactly
/// and without seeing colours.
std::string legend_html(const std::vector<Bar>& bars, std::span<const ShareWord> words) {
  std::string text = "<table class=\"legend\"><thead><tr><th scope=\"col\">Part</th>";
  for (const Bar& bar : bars) {
    text += fmt::format("<th scope=\"col\" class=\"number\">{}</th>", breakable(bar.label));
  }
  text += "</tr></thead><tbody>\n";
  for (const ShareWord& word : words) {
    const bool shown = std::any_of(bars.begin(), bars.end(),
                                   [&](const Bar& bar) { return share_in(bar, word) > 0; });
    if (!shown) continue;
    text += fmt::format(
        "<tr><th scope=\"row\"><svg class=\"swatch\" width=\"12\" height=\"12\" "
        "aria-hidden=\"true\">"
        "<rect class=\"share {0}\" width=\"12\" height=\"12\" rx=\"2\"/></svg> <code>{0}</code> "
        "<small>{1}</small></th>",
        word.name, word.meaning);
    for (const Bar& bar : bars) {
      text += fmt::format("<td class=\"number\">{}</td>", per_mille_text(share_in(bar, word)));
    }
    text += "</tr>\n";
  }
  return text + "</tbody></table>\n";
}

std::vector<Bar> bars_before_and_after(const Report& report) {
  std::vector<Bar> bars;
  const diagnose::Diagnosis& diagnosis = report.diagnosis;
  const bool tried = !report.verification.empty();
  const std::string step = tried ? microseconds_text(report.verification.front().before.step_us)
                           : diagnosis.steps.median_us
                               ? microseconds_text(*diagnosis.steps.median_us)
                               : "";
  bars.push_back({tried ? "before" : "share of time", step.empty() ? "" : step + " per step",
                  rounded_shares(*diagnosis.partition)});
  for (const Verification& after : report.verification) {
    if (!after.partition_after) continue;
    bars.push_back({after.remedy, microseconds_text(after.after.step_us) + " per step",
                    rounded_shares(*after.partition_after)});
  }
  bars.erase(
      std::remove_if(bars.begin(), bars.end(), [](const Bar& b) { return b.shares.empty(); }),
      bars.end());
  return bars;
}

std::string devices_html(const diagnose::Diagnosis& diagnosis) {
  if (diagnosis.devices.size() < 2) return {};
  std::string text = "<h3>Each device</h3>\n";
  for (const diagnose::DeviceDiagnosis& device : diagnosis.devices) {
    text += bar_html({fmt::format("GPU {}", device.info.index), device.info.name,
                      rounded_shares(device.partition)});
  }
  return text;
}

/// Without a GPU's activity: what the training thread does in a step, and why there is no more.
std::string thread_html(const Report& report) {
  const diagnose::Diagnosis& diagnosis = report.diagnosis;
  std::string text;
  if (diagnosis.thread_time) {
    Bar bar{"share of time", "", rounded_shares(*diagnosis.thread_time)};
    if (diagnosis.steps.median_us) {
      bar.note = microseconds_text(*diagnosis.steps.median_us) + " per step";
    }
    if (diagnosis.steps.samples_per_s) {
      bar.note += fmt::format(", {} samples/s", number_text(*diagnosis.steps.samples_per_s));
    }
    text += bar_html(bar) + legend_html({bar}, thread_words());
  }
  std::vector<std::string> sentences = not_observed_sentences(report.advice);
  if (sentences.empty()) {
    sentences.push_back(
        fmt::format("GPU activity: {}.", why_words(diagnosis.partition.why_absent())));
  }
  for (const std::string& sentence : sentences) {
    text += fmt::format("<p>{}</p>\n", escape(sentence));
  }
  return text;
}

}  // namespace

std::string html_partition(const Report& report) {
  const diagnose::Diagnosis& diagnosis = report.diagnosis;
  std::string text = "<section class=\"card\">\n<h2>Where the time goes</h2>\n";
  if (!diagnosis.partition) return text + thread_html(report) + "</section>\n";
  const std::vector<Bar> bars = bars_before_and_after(report);
  if (bars.empty()) return {};
  for (const Bar& bar : bars) text += bar_html(bar);
  text += legend_html(bars, share_words());
  if (const diagnose::DeviceDiagnosis* device = shown_device(diagnosis)) {
    for (const std::string& note : recording_notes(*device)) {
      text += fmt::format("<p>{}</p>\n", escape(note));
    }
  }
  return text + devices_html(diagnosis) + "</section>\n";
}

}  // namespace unstarve::report
