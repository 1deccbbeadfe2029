#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/number_words.h"
#include "predict/speedup.h"
#include "report/change.h"
#include "report/costs/cost_words.h"
#include "report/headline.h"
#include "report/text/sections.h"
#include "report/tried/trial_words.h"
#include "report/words/changed_part.h"
#include "report/words/words.h"

namespace unstarve::report {
namespace {

// Beside these, a command says where its page is and makes one remark: fifteen in all.
constexpr std::size_t kMostLines = 13;
constexpr int kFullWidth = 80;
constexpr int kLabelWidth = 8;

/// What is said is told in full, and others give room to it: only what is no sentence of ours, as
/// an error's message, may be longer.
constexpr std::size_t kInFull = 10;

/// A label and what is said beside it, in at most so many lines of a terminal of full width.
struct Paragraph {
  std::string label;
  std::string text;
  std::size_t most_lines = kInFull;
  Tone tone = Tone::kPlain;
};

using Lines = std::vector<std::string>;

/// Lines of a change that are shown; more are in the page and in the patch.
constexpr std::size_t kMostChanged = 6;
/// Lines of a terminal for one long line of code, of which what changes is shown.
constexpr int kLinesOfCode = 2;

/// Lines that belong together. Where there is no room for all, those of the lowest rank go first.
struct Part {
  Lines lines;
  int rank = kNeeded;

  static constexpr int kNeeded = 10;
};

/// What is longer than it may be is cut off, which an ellipsis shows.
Lines lines_of(const Paragraph& paragraph, const TextOptions& options) {
  if (paragraph.text.empty()) return {};
  const int indent = paragraph.label.empty() ? 0 : kLabelWidth;
  const int inside = options.width - indent;
  std::vector<std::string> parts = wrap(printable(paragraph.text, options), inside);
  const std::size_t most = paragraph.most_lines * (options.width < kFullWidth ? 2 : 1);
  if (parts.size() > most) {
    parts[most - 1] = clip(parts[most - 1] + " " + parts[most], inside, options);
    parts.resize(most);
  }
  Lines lines;
  for (const std::string& part : parts) {
    const std::string label = pad_right(lines.empty() ? paragraph.label : "", indent);
    lines.push_back(paint(label, Tone::kStrong, options) + paint(part, paragraph.tone, options));
  }
  return lines;
}

void add(const Paragraph& paragraph, const TextOptions& options, Lines& lines) {
  for (std::string& line : lines_of(paragraph, options)) lines.push_back(std::move(line));
}

/// What Python or GPUs reported; of many kinds the first two, since the rest follows from them.
void add_errors(const Report& report, const TextOptions& options, Lines& lines) {
  constexpr std::size_t kMost = 2;
  std::vector<std::string> errors = error_sentences(report);
  if (errors.size() > kMost) {
    errors[kMost - 1] += fmt::format(" {} more kinds followed.", errors.size() - kMost);
    errors.resize(kMost);
  }
  for (const std::string& error : errors) add({"Error", error, 5, Tone::kBad}, options, lines);
}

/// The GPU, where there is room for it beside the headline.
std::string device_beside(const Report& report, const TextOptions& options) {
  const std::string device = printable(device_text(report), options);
  const int needed = display_width(printable(short_headline(report), options)) + 2;
  return needed + display_width(device) <= options.width ? device : std::string();
}

Tone device_tone(const Report& report) {
  return is_emulated(report) ? Tone::kNotice : Tone::kFaint;
}

/// All runs that belong together, of which one is spoken of below.
Lines stages(const Report& report, const TextOptions& options) {
  Lines lines;
  for (const std::string& stage : stage_sentences(report)) add({"Stage", stage}, options, lines);
  return lines;
}

/// What matters most, and on what GPU.
Lines headline(const Report& report, const TextOptions& options) {
  const Tone tone = job_failed(report.facts) ? Tone::kBad : Tone::kStrong;
  Lines lines = lines_of({"", short_headline(report), kInFull, tone}, options);
  const std::string device = device_beside(report, options);
  if (!device.empty()) lines.back() += "  " + paint(device, device_tone(report), options);
  return lines;
}

/// What the job did, and on what GPU.
Lines what_it_did(const Report& report, const TextOptions& options) {
  Lines lines;
  const bool failed = job_failed(report.facts);
  add({"Run", what_happened(report), kInFull, failed ? Tone::kBad : Tone::kPlain}, options, lines);
  if (!device_beside(report, options).empty()) return lines;
  add({lines.empty() ? "Run" : " ", device_text(report), kInFull, device_tone(report)}, options,
      lines);
  return lines;
}

/// What of the GPU was not seen: nothing below is to be read without it.
Lines what_was_lost(const Report& report, const TextOptions& options) {
  Lines lines;
  add({"", report.facts.mig, kInFull, Tone::kNotice}, options, lines);
  add({"", report.facts.losses, kInFull, Tone::kNotice}, options, lines);
  return lines;
}

/// How much of the time the GPU was recorded in.
Lines what_was_recorded(const Report& report, const TextOptions& options) {
  const diagnose::DeviceDiagnosis* const shown = shown_device(report.diagnosis);
  if (shown == nullptr) return {};
  return lines_of({"", recorded_text(*shown), kInFull, Tone::kFaint}, options);
}

/// Lines that go and come; of a long one what differs, with as much around it as there is room for.
Lines changed(const std::string& lines_of_change, const TextOptions& options) {
  Lines lines;
  const std::vector<ChangedLine> all = changed_lines(lines_of_change);
  const auto room = static_cast<std::size_t>(kLinesOfCode * (options.width - kLabelWidth) - 8);
  for (std::size_t i = 0; i < std::min(all.size(), kMostChanged); ++i) {
    const ChangedLine& line = all[i];
    const Tone tone = line.text.starts_with('+') ? Tone::kGood : Tone::kPlain;
    const std::string text = around_the_change(line, room, options.unicode ? "…" : "..");
    add({lines.empty() ? "Change" : " ", text, kInFull, tone}, options, lines);
  }
  if (all.size() > kMostChanged) {
    const std::string more =
        fmt::format("{} more lines are on the page", all.size() - kMostChanged);
    add({" ", more, kInFull, Tone::kFaint}, options, lines);
  }
  return lines;
}

/// What is to be done, and what keeps it.
Lines change(const Report& report, const TextOptions& options) {
  const NamedChange named = change_of(report);
  if (named.lines.empty()) return lines_of({"Change", named.sentence}, options);
  Lines lines = changed(named.lines, options);
  if (!named.sentence.empty()) add({" ", named.sentence}, options, lines);
  return lines;
}

/// What may gain more or nothing: a trial costs less than guessing.
std::string what_a_trial_would_tell(const advise::Advice& advice) {
  const advise::Remedy* const remedy = advice.most_worth_a_trial();
  if (remedy == nullptr) return {};
  return fmt::format("{} Predicted {}: `unstarve run --fix` tries it.", remedy->how,
                     speedup_words(*remedy->predicted));
}

/// What the change would gain or was measured to.
Lines gain(const Report& report, const TextOptions& options) {
  if (const Verification* tried = best_verified(report.verification)) {
    const bool good = tried->held || !tried->predicted;
    return lines_of({"Gain", proof_sentence(*tried), kInFull, good ? Tone::kGood : Tone::kBad},
                    options);
  }
  if (!report.advice.next_remedy) return {};
  const Reading<predict::Speedup>& predicted = report.advice.next_remedy->predicted;
  return lines_of({"Gain", predicted ? "predicted " + speedup_words(*predicted)
                                     : std::string("not predicted for this change")},
                  options);
}

/// What was tried beside the best, or what a trial would tell.
Lines what_trials_tell(const Report& report, const TextOptions& options) {
  if (const Verification* tried = best_verified(report.verification)) {
    return lines_of({"Tried", others_tried(report.verification, *tried)}, options);
  }
  return lines_of({"Maybe", what_a_trial_would_tell(report.advice)}, options);
}

/// The largest finding beside the leading one, for people.
std::string what_else(const Report& report) {
  const diagnose::Finding* lead = leading_finding(report);
  if (lead == nullptr) return {};
  for (const diagnose::Finding& finding : report.diagnosis.findings) {
    if (&finding == lead || finding.cause == "gpu_busy") continue;
    return fmt::format("{} {}", percent_text(finding.share), finding_words(finding));
  }
  return {};
}

/// One line. What a job that failed could have done for us is not what matters then.
std::string what_is_missing(const Report& report) {
  if (report.advice.not_observed.empty()) return {};
  const advise::NotObserved& unseen = report.advice.not_observed.front();
  if (job_failed(report.facts)) {
    return fmt::format("{} was not observed ({}).", unseen.what, unseen.why);
  }
  return not_observed_sentences(report.advice).front();
}

/// What the idle time cost, and what the change gives back.
Lines what_it_cost(const Report& report, const TextOptions& options) {
  if (!report.cost) return {};
  return lines_of({std::string(cost_label(*report.cost)), cost_sentence(*report.cost)}, options);
}

std::string first_evidence(const Report& report) {
  const diagnose::Finding* lead = leading_finding(report);
  return lead == nullptr || lead->evidence.empty() ? std::string() : lead->evidence.front();
}

std::size_t count_lines(const std::vector<Part>& parts) {
  std::size_t lines = 0;
  for (const Part& part : parts) lines += part.lines.size();
  return lines;
}

/// Leaves out the parts of the lowest ranks until the others have room, and puts back of those what
/// still has, the highest rank first.
void leave_out(std::vector<Part>& parts) {
  std::vector<std::size_t> by_rank;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].rank != Part::kNeeded) by_rank.push_back(i);
  }
  std::stable_sort(by_rank.begin(), by_rank.end(),
                   [&](std::size_t a, std::size_t b) { return parts[a].rank < parts[b].rank; });
  std::vector<std::pair<std::size_t, Lines>> left_out;
  std::size_t lines = count_lines(parts);
  for (const std::size_t i : by_rank) {
    if (lines <= kMostLines) break;
    lines -= parts[i].lines.size();
    left_out.emplace_back(i, std::exchange(parts[i].lines, {}));
  }
  for (auto part = left_out.rbegin(); part != left_out.rend(); ++part) {
    auto& [i, its_lines] = *part;
    if (lines + its_lines.size() > kMostLines) continue;
    lines += its_lines.size();
    parts[i].lines = std::move(its_lines);
  }
}

/// Why, in full. What reads as the headline does is not said twice.
Lines why(const Report& report, const TextOptions& options) {
  Lines lines;
  add_errors(report, options, lines);
  const std::string& cause =
      report.advice.cause.empty() ? report.advice.verdict : report.advice.cause;
  const std::string& text = report.facts.no_steps.empty() ? cause : report.facts.no_steps;
  if (text != short_headline(report)) add({"Why", text}, options, lines);
  return lines;
}

std::vector<Part> parts_of(const Report& report, const TextOptions& options) {
  const std::string missing = report.facts.no_steps.empty() ? what_is_missing(report) : "";
  const Lines reason = why(report, options);
  // How a job failed comes before why it was slow.
  const Lines run = what_it_did(report, options);
  const bool failed = job_failed(report.facts);
  return {
      {stages(report, options)},
      {headline(report, options)},
      {failed ? run : Lines()},
      {what_was_lost(report, options)},
      {reason},
      {lines_of({reason.empty() ? "Why" : " ", first_evidence(report)}, options), 1},
      {lines_of({"While", report.advice.condition}, options), 8},
      {change(report, options)},
      {gain(report, options)},
      {what_it_cost(report, options), 7},
      {what_trials_tell(report, options), 4},
      {lines_of({"Also", what_else(report)}, options), 6},
      {lines_of({"Seen", events_text(report.diagnosis)}, options), 5},
      {failed ? Lines() : run},
      {lines_of({"", roofline_text(report), kInFull, Tone::kNotice}, options), 3},
      {what_was_recorded(report, options)},
      {lines_of({"", missing, kInFull, Tone::kFaint}, options), 2},
  };
}

}  // namespace

std::string text_brief(const Report& report, const TextOptions& options) {
  std::vector<Part> parts = parts_of(report, options);
  if (options.width >= kFullWidth) leave_out(parts);
  Lines lines;
  for (const Part& part : parts) lines.insert(lines.end(), part.lines.begin(), part.lines.end());
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

}  // namespace unstarve::report
