#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/number_words.h"
#include "predict/speedup.h"
#include "report/costs/cost_words.h"
#include "report/headline.h"
#include "report/text/sections.h"
#include "report/tried/trial_words.h"
#include "report/words/words.h"

namespace unstarve::report {
namespace {

// Beside these, a command says where its page is and makes one remark: fifteen in all.
constexpr std::size_t kMostLines = 13;
constexpr int kFullWidth = 80;
constexpr int kLabelWidth = 8;

/// A label and what is said beside it, in at most so many lines of a terminal of full width.
struct Paragraph {
  std::string label;
  std::string text;
  std::size_t most_lines = 1;
  Tone tone = Tone::kPlain;
};

using Lines = std::vector<std::string>;

/// Lines of a cause, and of a change: they are told in full, and others give room to them.
constexpr std::size_t kInFull = 8;
/// ... or in fewer, down to these, where all that cannot be left out is too much.
constexpr std::size_t kInShort = 3;

/// Lines that belong together. Where there is no room for all, those of the lowest rank go first.
struct Part {
  Lines lines;
  int rank = kNeeded;

  static constexpr int kNeeded = 10;
};

/// What does not fit is cut off, which an ellipsis shows.
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

/// What the job did, and on what GPU.
Lines what_it_did(const Report& report, const TextOptions& options) {
  Lines lines;
  for (const std::string& stage : stage_sentences(report)) add({"Stage", stage}, options, lines);
  const bool failed = job_failed(report.facts);
  add({"", what_happened(report), 2, failed ? Tone::kBad : Tone::kStrong}, options, lines);
  add_errors(report, options, lines);
  const Tone tone = is_emulated(report) ? Tone::kNotice : Tone::kFaint;
  add({"", device_text(report), 2, tone}, options, lines);
  return lines;
}

/// What was recorded of the GPU, and what was lost.
Lines what_was_recorded(const Report& report, const TextOptions& options) {
  Lines lines;
  if (const diagnose::DeviceDiagnosis* shown = shown_device(report.diagnosis)) {
    add({"", recorded_text(*shown), 1, Tone::kFaint}, options, lines);
  }
  add({"", report.facts.mig, 2, Tone::kNotice}, options, lines);
  add({"", report.facts.losses, 2, Tone::kNotice}, options, lines);
  return lines;
}

/// An edit line by line, or what is to be done in a sentence.
Lines change(const std::string& edit, const std::string& how, std::size_t most_lines,
             const TextOptions& options) {
  Lines lines;
  if (edit.empty()) {
    add({"Change", how, most_lines}, options, lines);
    return lines;
  }
  for (std::size_t from = 0; from < edit.size();) {
    const std::size_t end = std::min(edit.find('\n', from), edit.size());
    const Tone tone = edit[from] == '+' ? Tone::kGood : Tone::kPlain;
    add({lines.empty() ? "Change" : " ", edit.substr(from, end - from), 1, tone}, options, lines);
    from = end + 1;
  }
  return lines;
}

/// The lines of a diff that change; what stands around them is in the page and in the patch.
std::string changed_lines(const std::string& diff) {
  std::string text;
  bool in_hunk = false;
  for (std::size_t from = 0; from < diff.size();) {
    const std::size_t end = std::min(diff.find('\n', from), diff.size());
    const std::string_view line = std::string_view(diff).substr(from, end - from);
    in_hunk = in_hunk || line.substr(0, 2) == "@@";
    const bool changes = line.starts_with('+') || line.starts_with('-');
    if (in_hunk && changes) text += fmt::format("{}\n", line);
    from = end + 1;
  }
  return text;
}

/// What keeps a remedy that was kept.
Lines permanent_change(const Report& report, const Verification& tried, std::size_t most_lines,
                       const TextOptions& options) {
  const advise::Remedy* const remedy = report.advice.find_offered(tried.remedy);
  if (!tried.diff.empty()) return change(changed_lines(tried.diff), "", most_lines, options);
  if (!tried.permanent.empty()) return change("", tried.permanent, most_lines, options);
  return remedy == nullptr ? Lines() : change(remedy->edit, remedy->how, most_lines, options);
}

/// What may gain more or nothing: a trial costs less than guessing.
std::string what_a_trial_would_tell(const advise::Advice& advice) {
  const advise::Remedy* const remedy = advice.most_worth_a_trial();
  if (remedy == nullptr) return {};
  return fmt::format("{} Predicted {}: `unstarve run --fix` tries it.", remedy->how,
                     speedup_words(*remedy->predicted));
}

/// What to do, and what it would gain or was measured to.
Lines what_to_change(const Report& report, std::size_t most_lines, const TextOptions& options) {
  Lines lines;
  if (const Verification* tried = best_verified(report.verification)) {
    if (tried->outcome == trial::Outcome::kKept) {
      lines = permanent_change(report, *tried, most_lines, options);
    }
    const bool good = tried->held || !tried->predicted;
    add({"Proof", proof_sentence(*tried), 3, good ? Tone::kGood : Tone::kBad}, options, lines);
    return lines;
  }
  if (report.advice.next_remedy) {
    const advise::Remedy& remedy = *report.advice.next_remedy;
    lines = change(remedy.edit, remedy.how, most_lines, options);
    const Reading<predict::Speedup>& predicted = remedy.predicted;
    const std::string gain = predicted ? "predicted " + speedup_words(*predicted)
                                       : std::string("not predicted for this change");
    add({"Gain", gain}, options, lines);
  }
  return lines;
}

/// What was tried beside the best, or what a trial would tell.
Lines what_trials_tell(const Report& report, const TextOptions& options) {
  if (const Verification* tried = best_verified(report.verification)) {
    return lines_of({"Tried", others_tried(report.verification, *tried), 2}, options);
  }
  return lines_of({"Maybe", what_a_trial_would_tell(report.advice), 3}, options);
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
  return lines_of({std::string(cost_label(*report.cost)), cost_sentence(*report.cost), 2}, options);
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

/// `most_lines`: of the cause, and of the change.
std::vector<Part> parts_of(const Report& report, std::size_t most_lines,
                           const TextOptions& options) {
  const bool unexplained = report.facts.no_steps.empty();
  const std::string& cause =
      report.advice.cause.empty() ? report.advice.verdict : report.advice.cause;
  const std::string& why_it_ran_so = unexplained ? cause : report.facts.no_steps;
  const std::string missing = unexplained ? what_is_missing(report) : "";
  return {
      {what_it_did(report, options)},
      {lines_of({"", roofline_text(report), 2, Tone::kNotice}, options), 3},
      {what_was_recorded(report, options)},
      {lines_of({"Cause", why_it_ran_so, most_lines, Tone::kStrong}, options)},
      {lines_of({"While", report.advice.condition, 3}, options), 8},
      {lines_of({"Why", first_evidence(report), 2}, options), 1},
      {what_to_change(report, most_lines, options)},
      {what_it_cost(report, options), 7},
      {what_trials_tell(report, options), 4},
      {lines_of({"Also", what_else(report)}, options), 6},
      {lines_of({"Seen", events_text(report.diagnosis), 2}, options), 5},
      {lines_of({"", missing, 1, Tone::kFaint}, options), 2},
  };
}

}  // namespace

std::string text_brief(const Report& report, const TextOptions& options) {
  std::vector<Part> parts = parts_of(report, kInFull, options);
  if (options.width >= kFullWidth) {
    leave_out(parts);
    for (std::size_t most = kInFull; count_lines(parts) > kMostLines && most > kInShort;) {
      parts = parts_of(report, --most, options);
      leave_out(parts);
    }
  }
  Lines lines;
  for (const Part& part : parts) lines.insert(lines.end(), part.lines.begin(), part.lines.end());
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

}  // namespace unstarve::report
