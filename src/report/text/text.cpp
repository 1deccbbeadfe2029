#include "report/text/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "base/number_words.h"
#include "report/headline.h"
#include "report/roofline/position_text.h"
#include "report/text/sections.h"
#include "report/words/words.h"

namespace unstarve::report {
namespace {

constexpr int kSmallestWidth = 40;

struct Frame {
  std::string_view top_left, top_right, bottom_left, bottom_right, horizontal, vertical;
};
constexpr Frame kBoxFrame = {"╭", "╮", "╰", "╯", "─", "│"};
constexpr Frame kAsciiFrame = {"+", "+", "+", "+", "-", "|"};

/// A line inside the card: a label in front of a text, which wraps beside it.
struct CardLine {
  std::string label;
  std::string text;
  Tone tone = Tone::kPlain;
};

constexpr int kNarrowLabelWidth = 6;

void add_card_line(const CardLine& line, const TextOptions& options, std::string& card) {
  const Frame& frame = options.unicode ? kBoxFrame : kAsciiFrame;
  const int inside = options.width - 4;
  const int indent = line.label.empty() ? 0 : kNarrowLabelWidth;
  const std::string side = paint(frame.vertical, Tone::kFaint, options);
  bool first = true;
  for (const std::string& part : wrap(printable(line.text, options), inside - indent)) {
    const std::string label = pad_right(first ? line.label : "", indent);
    card += side + " " + paint(label, Tone::kStrong, options) +
            paint(pad_right(part, inside - indent), line.tone, options) + " " + side + "\n";
    first = false;
  }
}

std::vector<CardLine> card_lines(const Report& report) {
  std::vector<CardLine> lines;
  for (const std::string& stage : stage_sentences(report)) lines.push_back({"Stage", stage});
  if (const std::string happened = what_happened(report); !happened.empty()) {
    lines.push_back({"", happened});
  }
  for (const std::string& error : error_sentences(report)) {
    lines.push_back({"Error", error, Tone::kBad});
  }
  if (!report.facts.mig.empty()) lines.push_back({"", report.facts.mig, Tone::kNotice});
  if (!report.facts.losses.empty()) lines.push_back({"", report.facts.losses, Tone::kNotice});
  if (const std::string kept = kept_text(report.facts); !kept.empty()) lines.push_back({"", kept});
  lines.push_back({"",
                   report.facts.no_steps.empty() ? report.advice.verdict : report.facts.no_steps,
                   Tone::kStrong});
  if (const diagnose::Finding* lead = leading_finding(report)) {
    const auto& evidence = lead->evidence;
    for (std::size_t i = 0; i < std::min<std::size_t>(evidence.size(), 2); ++i) {
      lines.push_back({i == 0 ? "Why" : " ", evidence[i]});
    }
  }
  if (const Verification* tried = best_verified(report.verification)) {
    lines.push_back({"Proof", proof_sentence(*tried),
                     tried->held || !tried->predicted ? Tone::kGood : Tone::kBad});
  } else if (const std::string next = next_sentence(report.advice);
             !next.empty() && (report.diagnosis.partition || !report.advice.leading_remedy)) {
    lines.push_back({"Next", next});
  }
  return lines;
}

std::string head_line(const Report& report, const TextOptions& options) {
  std::vector<std::string> parts;
  const RunFacts& facts = report.facts;
  if (!facts.command.empty()) parts.push_back(facts.command);
  if (facts.command.empty() && !report.diagnosis.file.empty())
    parts.push_back(report.diagnosis.file);
  if (facts.duration_s) parts.push_back("watched for " + seconds_text(*facts.duration_s));
  if (!facts.host.empty()) parts.push_back(facts.host);
  std::string text;
  for (const std::string& line :
       wrap(printable(fmt::format("{}", fmt::join(parts, ", ")), options), options.width)) {
    if (!line.empty()) text += paint(line, Tone::kFaint, options) + "\n";
  }
  const std::string device = printable(device_text(report), options);
  if (device.empty()) return text;
  const Tone tone = is_emulated(report) ? Tone::kNotice : Tone::kFaint;
  text += paint(clip(device, options.width, options), tone, options) + "\n";
  for (const std::string& line : wrap(roofline_text(report), options.width)) {
    if (!line.empty()) text += paint(line, Tone::kFaint, options) + "\n";
  }
  return text;
}

}  // namespace

std::string heading(std::string_view text, const TextOptions& options) {
  return paint(clip(text, options.width, options), Tone::kStrong, options) + "\n";
}

std::string text_verdict(const Report& report, const TextOptions& options) {
  const Frame& frame = options.unicode ? kBoxFrame : kAsciiFrame;
  const auto edge = [&](std::string_view left, std::string_view title, std::string_view right) {
    const int rest = options.width - 2 - display_width(title);
    return paint(fmt::format("{}{}{}{}", left, title, repeat(frame.horizontal, rest), right),
                 Tone::kFaint, options) +
           "\n";
  };
  std::string card =
      edge(frame.top_left, fmt::format("{} Verdict ", frame.horizontal), frame.top_right);
  for (const CardLine& line : card_lines(report)) add_card_line(line, options, card);
  return head_line(report, options) + card + edge(frame.bottom_left, "", frame.bottom_right);
}

std::string text_not_observed(const Report& report, const TextOptions& options) {
  std::string text;
  for (const std::string& sentence : not_observed_sentences(report.advice)) {
    text += hanging("", printable(sentence, options), options);
  }
  return text;
}

std::string text_unseen(const Report& report, const TextOptions& options) {
  const std::vector<Unseen> reasons = unseen_by_reason(report.diagnosis);
  if (reasons.empty()) return {};
  std::string text = heading("Not seen, so not judged", options);
  for (const Unseen& unseen : reasons) {
    const std::string line =
        fmt::format("{}: {}; so no word on {}", why_words(unseen.why),
                    fmt::join(unseen.signals, ", "), fmt::join(unseen.rules, ", "));
    text += hanging("  ", printable(line, options), options);
  }
  return text;
}

std::string text_events(const Report& report, const TextOptions& options) {
  const std::string events = events_text(report.diagnosis);
  if (events.empty()) return {};
  return heading("Seen now and then", options) + hanging("  ", printable(events, options), options);
}

std::string text_own_cost(const Report& report, const TextOptions& options) {
  if (report.own_cost.empty()) return {};
  std::string text = heading("What watching cost", options);
  for (const Fact& fact : report.own_cost) {
    text +=
        hanging("  ", printable(fmt::format("{}: {}", fact.name, fact.value), options), options);
  }
  return text;
}

std::string text_roofs(const Report& report, const TextOptions& options) {
  return report.position ? position_text(*report.position, options) : std::string();
}

namespace {

std::string text_utilization_tried(const Report& report, const TextOptions& options) {
  return report.verification.empty() ? std::string() : text_utilization(report, options);
}

using Section = std::string (*)(const Report& report, const TextOptions& options);

constexpr std::array<Section, 13> kSections = {
    text_verdict,      text_partition, text_costs,   text_roofs,       text_ranks,
    text_findings,     text_events,    text_hints,   text_utilization, text_comparison,
    text_not_observed, text_unseen,    text_own_cost};

// Where something was tried, the comparison is what the reader waits for.
constexpr std::array<Section, 3> kBriefSections = {text_brief, text_utilization_tried,
                                                   text_comparison};

std::string put_together(std::span<const Section> sections, const Report& report,
                         const TextOptions& options) {
  std::string text;
  for (const Section section : sections) {
    const std::string part = section(report, options);
    if (part.empty()) continue;
    if (!text.empty()) text += "\n";
    text += part;
  }
  return text;
}

}  // namespace

std::string render_text(const Report& report, const TextOptions& asked) {
  TextOptions options = asked;
  options.width = std::max(options.width, kSmallestWidth);
  if (options.verbose) return put_together(kSections, report, options);
  return put_together(kBriefSections, report, options);
}

}  // namespace unstarve::report
