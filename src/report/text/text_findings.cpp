#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/number_words.h"
#include "predict/speedup.h"
#include "report/text/sections.h"
#include "report/words/words.h"

namespace unstarve::report {
namespace {

/// How a part of the partition is drawn. The glyph tells parts apart where there is no colour:
/// solid is work, shades are movement, light marks are idle time.
struct BarGlyph {
  std::string_view name;
  std::string_view unicode;
  std::string_view ascii;
  Tone tone;
};
constexpr std::array<BarGlyph, 9> kBarGlyphs = {{
    {"gpu_compute", "█", "#", Tone::kBusy},
    {"exposed_communication", "▓", "&", Tone::kMoving},
    {"exposed_copy", "▒", "%", Tone::kMoving},
    {"input_wait", "░", ".", Tone::kStarved},
    {"sync", "╳", "x", Tone::kHeldUp},
    {"launch", "╱", "/", Tone::kHeldUp},
    {"kernel_wait", "╌", "-", Tone::kHeldUp},
    {"other", "·", "~", Tone::kFaint},
    {"own_work", "█", "#", Tone::kBusy},
}};

std::string glyph_of(const ShareWord& word, const TextOptions& options, int count) {
  for (const BarGlyph& glyph : kBarGlyphs) {
    if (glyph.name != word.name) continue;
    return paint(repeat(options.unicode ? glyph.unicode : glyph.ascii, count), glyph.tone, options);
  }
  return repeat("?", count);
}

std::string stacked_bar(const std::vector<RoundedShare>& shares, const TextOptions& options) {
  std::vector<double> weights;
  for (const RoundedShare& share : shares) weights.push_back(share.per_mille);
  const std::vector<int> cells = apportion(weights, options.width - 2);
  std::string bar = "  ";
  for (std::size_t i = 0; i < shares.size(); ++i) {
    bar += glyph_of(*shares[i].word, options, cells[i]);
  }
  return bar + "\n";
}

std::string legend(const std::vector<RoundedShare>& shares, const TextOptions& options) {
  constexpr int kNumberWidth = 7;
  int name_width = 0;
  int meaning_width = 0;
  for (const RoundedShare& share : shares) {
    name_width = std::max(name_width, display_width(share.word->name));
    meaning_width = std::max(meaning_width, display_width(share.word->meaning));
  }
  const bool explain = 4 + name_width + 2 + kNumberWidth + 2 + meaning_width <= options.width;
  std::string text;
  for (const RoundedShare& share : shares) {
    text += fmt::format("  {} {}  {}", glyph_of(*share.word, options, 1),
                        pad_right(share.word->name, name_width),
                        pad_left(per_mille_text(share.per_mille), kNumberWidth));
    if (explain) text += "  " + paint(share.word->meaning, Tone::kFaint, options);
    text += "\n";
  }
  return text;
}

std::string partition_title(const Report& report) {
  const diagnose::Diagnosis& diagnosis = report.diagnosis;
  std::string title = "Where the time goes";
  if (diagnosis.steps.median_us) {
    title += fmt::format(": {} step{}, median {}", diagnosis.steps.count,
                         diagnosis.steps.count == 1 ? "" : "s",
                         microseconds_text(*diagnosis.steps.median_us));
    if (!diagnosis.partition && diagnosis.steps.samples_per_s) {
      title += fmt::format(", {} samples/s", number_text(*diagnosis.steps.samples_per_s));
    }
  } else if (const diagnose::DeviceDiagnosis* device = shown_device(diagnosis)) {
    title += ": " + microseconds_text(device->span_us);
  }
  if (diagnosis.devices.size() > 1) {
    title += fmt::format(", the worst of {} devices", diagnosis.devices.size());
  }
  return title;
}

Tone confidence_tone(diagnose::Confidence confidence) {
  return confidence == diagnose::Confidence::kClear ? Tone::kPlain : Tone::kNotice;
}

std::string remedy_text(const advise::Remedy& remedy, const TextOptions& options) {
  const std::string gain = remedy.predicted ? "predicted " + speedup_text(*remedy.predicted)
                                            : fmt::format("gain not predicted: {}",
                                                          why_words(remedy.predicted.why_absent()));
  const std::string line = fmt::format("{} ({}): {}", remedy.id, gain, remedy.how);
  return hanging(options.unicode ? "     → " : "     > ", printable(line, options), options);
}

std::string finding_text(const Report& report, std::size_t index, const TextOptions& options) {
  const diagnose::Finding& finding = report.diagnosis.findings[index];
  const std::string front = fmt::format("  {}  ", index + 1);
  const std::string share = percent_cell(finding.share);
  const bool clear = finding.confidence == diagnose::Confidence::kClear;
  const std::string tail = fmt::format("  {}{}", share, clear ? "" : "  ambiguous");
  const std::string title =
      clip(printable(finding_title(finding), options),
           options.width - display_width(front) - display_width(tail), options);
  std::string text = front + paint(title, Tone::kStrong, options) +
                     paint(tail, confidence_tone(finding.confidence), options) + "\n";
  for (const std::string& evidence : finding.evidence) {
    text += hanging(options.unicode ? "     • " : "     - ", printable(evidence, options), options);
  }
  for (const advise::Remedy& remedy : report.advice.of_finding(index)) {
    text += remedy_text(remedy, options);
  }
  return text;
}

}  // namespace

std::string text_partition(const Report& report, const TextOptions& options) {
  const Reading<diagnose::Partition>& partition = report.diagnosis.partition;
  const Reading<diagnose::ThreadTime>& thread_time = report.diagnosis.thread_time;
  if (!partition && !thread_time) return {};
  const std::vector<RoundedShare> shares =
      partition ? rounded_shares(*partition) : rounded_shares(*thread_time);
  if (shares.empty()) return {};
  std::string text = heading(partition_title(report), options) + stacked_bar(shares, options) +
                     legend(shares, options);
  if (const diagnose::DeviceDiagnosis* device = shown_device(report.diagnosis)) {
    for (const std::string& note : recording_notes(*device)) {
      text += hanging("  ", printable(note, options), options);
    }
  }
  return text;
}

std::string text_findings(const Report& report, const TextOptions& options) {
  if (report.diagnosis.findings.empty()) return {};
  std::string text = heading("Findings, by share of time", options);
  for (std::size_t i = 0; i < report.diagnosis.findings.size(); ++i) {
    text += finding_text(report, i, options);
  }
  return text;
}

std::string text_hints(const Report& report, const TextOptions& options) {
  if (report.diagnosis.hints.empty()) return {};
  std::string text = heading("Rules of thumb", options);
  for (const diagnose::Hint& hint : report.diagnosis.hints) {
    std::string line = hint.says;
    if (!hint.cannot_tell.empty()) line += fmt::format(" (but: {})", hint.cannot_tell);
    text += hanging(options.unicode ? "  • " : "  - ", printable(line, options), options);
  }
  return text;
}

}  // namespace unstarve::report
