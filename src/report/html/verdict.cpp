#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/number_words.h"
#include "report/change.h"
#include "report/costs/cost_words.h"
#include "report/headline.h"
#include "report/html/escape.h"
#include "report/html/scale.h"
#include "report/html/sections.h"
#include "report/html/terms.h"
#include "report/why.h"
#include "report/words/changed_part.h"
#include "report/words/shown_paths.h"
#include "report/words/words.h"

namespace unstarve::report {
namespace {

/// Of a path in the first screen, so that it neither fills nor leaves a line of a telephone.
constexpr std::size_t kMostOfAPath = 40;

/// Text of the first screen: its paths from the job's folder on, and short.
std::string shown(const Report& report, std::string_view text) {
  const std::string relative =
      relative_places(relative_paths(text, report.facts.folder), report.facts.script_folder);
  std::string html;
  for (const ShownPart& part : short_parts(relative, kMostOfAPath)) {
    // Whoever selects and copies the text gets all of it.
    html += part.is_cut
                ? fmt::format("<span class=\"cut\"><span>{}</span></span>", escape(part.text))
                : escape(part.text);
  }
  return html;
}

/// The same, with what stands between backquotes as code.
std::string shown_sentence(const Report& report, std::string_view text) {
  const std::string safe = shown(report, text);
  std::string html;
  bool is_code = false;
  for (const char c : safe) {
    if (c != '`') {
      html += c;
      continue;
    }
    html += is_code ? "</code>" : "<code>";
    is_code = !is_code;
  }
  return is_code ? html + "</code>" : html;
}

/// A number in large type; `before` is empty where there is nothing to compare with.
struct Tile {
  std::string name;  // safe
  std::string before;
  std::string now;
};

std::string tile_html(const Tile& tile) {
  std::string text = fmt::format("<div class=\"tile\"><dt>{}</dt><dd>", tile.name);
  if (!tile.before.empty()) {
    text += fmt::format(
        "<span class=\"was\">{}</span> <span class=\"to\" aria-label=\"became\">&rarr;</span> ",
        escape(tile.before));
  }
  return text + fmt::format("<span class=\"now\">{}</span></dd></div>", escape(tile.now));
}

void add_change(const char* name, const Reading<double>& before, const Reading<double>& after,
                std::string (*format)(double), std::vector<Tile>& tiles) {
  if (before && after) tiles.push_back({explained(name), format(*before), format(*after)});
}

std::vector<Tile> tiles_of_change(const Verification& tried) {
  std::vector<Tile> tiles = {
      {explained("Speed-up"), "", number_text(tried.measured.speedup) + "x"}};
  add_change("AU", tried.before.au, tried.after.au, percent_cell, tiles);
  add_change("Samples per second", tried.before.samples_per_s, tried.after.samples_per_s,
             number_text, tiles);
  tiles.push_back({explained("Step"), microseconds_text(tried.before.step_us),
                   microseconds_text(tried.after.step_us)});
  add_change("CPU cores", tried.before.cpu_cores, tried.after.cpu_cores, number_text, tiles);
  return tiles;
}

std::vector<Tile> tiles_of_state(const Report& report) {
  const diagnose::Diagnosis& diagnosis = report.diagnosis;
  std::vector<Tile> tiles;
  if (const diagnose::DeviceDiagnosis* device = shown_device(diagnosis)) {
    tiles.push_back({explained("GPU busy"), "", percent_cell(device->gpu_busy_ratio)});
  }
  const diagnose::Finding* lead = leading_finding(report);
  if (lead != nullptr && diagnosis.partition) {
    tiles.push_back({escape(finding_words(*lead)), "", percent_cell(lead->share)});
  }
  if (diagnosis.steps.median_us) {
    tiles.push_back({explained("Median step"), "", microseconds_text(*diagnosis.steps.median_us)});
  }
  return tiles;
}

std::string tiles_html(const Report& report) {
  const Verification* tried = best_verified(report.verification);
  std::string tiles;
  for (const Tile& tile : tried != nullptr ? tiles_of_change(*tried) : tiles_of_state(report)) {
    tiles += tile_html(tile);
  }
  return tiles.empty() ? tiles : fmt::format("<dl class=\"tiles\">{}</dl>\n", tiles);
}

/// One of the three answers below the headline; empty where there is none.
std::string answer_html(const char* title, const std::string& answer) {
  if (answer.empty()) return {};
  return fmt::format("<div class=\"answer {0}\"><h2>{0}</h2><div>\n{1}</div></div>\n", title,
                     answer);
}

std::string code_html(const Report& report, const char* kind, std::string_view code) {
  return fmt::format("<code class=\"{}\">{}</code>", kind, shown(report, code));
}

std::string bars_html(const Report& report) {
  const Why why = why_of(report);
  std::string text;
  for (const WhyPart& part : why.parts) {
    const std::string what =
        part.is_code ? code_html(report, "call", part.what) : shown(report, part.what);
    text += fmt::format(
        "<li><span class=\"what\">{0} {1}</span> <span class=\"part-share\">{2}</span>"
        "<svg class=\"meter\" width=\"100%\" height=\"10\" aria-hidden=\"true\">"
        "<rect class=\"meter-all\" width=\"100%\" height=\"10\"/>"
        "<rect class=\"share {3}\" width=\"{4}\" height=\"10\"/></svg></li>\n",
        what, part.place.empty() ? "" : code_html(report, "place", part.place),
        percent_text(part.share), escape(part.cause), Scale{0, 1}.percent(part.share));
  }
  if (text.empty()) return text;
  const diagnose::Finding* lead = leading_finding(report);
  const bool waits = lead != nullptr && lead->cause == "input_wait";
  const std::string loaders = waits && !report.facts.loaders.empty()
                                  ? " for the data loader" + shown(report, report.facts.loaders)
                                  : "";
  return fmt::format(
      "<ul class=\"parts\" aria-label=\"Shares {0}\">\n{1}</ul>\n"
      "<p class=\"how\">Shares {0}{2}.</p>\n",
      why.of, text, loaders);
}

/// What ended a job that failed, and what its GPUs reported.
std::string errors_html(const Report& report) {
  std::string text;
  for (const std::string& error : error_sentences(report)) {
    text += fmt::format("<p class=\"error\">{}</p>\n", shown(report, error));
  }
  if (job_failed(report.facts)) {
    text += fmt::format("<p class=\"error\">{}</p>\n", shown(report, what_happened(report)));
  }
  return text;
}

std::string why_html(const Report& report) {
  std::string text;
  if (!report.facts.no_steps.empty()) {
    return text + fmt::format("<p>{}</p>\n", shown(report, report.facts.no_steps));
  }
  text += bars_html(report);
  const bool is_told = !text.empty() && leading_finding(report) != nullptr;
  if (is_told || report.advice.verdict == short_headline(report)) return text;
  return text + fmt::format("<p>{}</p>\n", shown_sentence(report, report.advice.verdict));
}

/// The lines of a change, with what differs marked.
std::string lines_html(const Report& report, const NamedChange& change) {
  std::string text;
  if (!change.file.empty()) {
    text += fmt::format("<span class=\"file\">{}</span>\n", shown(report, change.file));
  }
  for (const ChangedLine& line : changed_lines(change.lines)) {
    const std::string_view all = line.text;
    const char* const tag = all.starts_with('-') ? "del" : all.starts_with('+') ? "ins" : "span";
    text += fmt::format("<{0}>{1}<mark>{2}</mark>{3}</{0}>\n", tag,
                        shown(report, all.substr(0, line.start)),
                        shown(report, all.substr(line.start, line.end - line.start)),
                        shown(report, all.substr(line.end)));
  }
  return fmt::format("<pre class=\"change\">{}</pre>\n", text);
}

/// For an attribute, in which ends of lines have to stay.
std::string attribute(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    safe += escape(text.substr(0, end));
    if (end < text.size()) safe += "&#10;";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return safe;
}

std::string change_html(const Report& report) {
  const NamedChange change = change_of(report);
  const bool judged = !job_failed(report.facts) && report.diagnosis.steps.count > 0;
  // What else holds the job up comes first: behind it everything may look different.
  std::string text;
  if (!report.advice.condition.empty()) {
    text =
        fmt::format("<p><strong>First:</strong> {}</p>\n", shown(report, report.advice.condition));
  }
  if (change.empty() && text.empty() && judged && report.verification.empty()) {
    const diagnose::Finding* const lead = leading_finding(report);
    return lead != nullptr && lead->cause == "gpu_busy"
               ? "<p>None is advised: nothing holds the GPU up. <code>unstarve tune</code> looks "
                 "for a faster step.</p>\n"
               : "<p>None is advised.</p>\n";
  }
  std::string sentence = change.sentence;
  if (!change.command.empty()) {  // it stands below, where it can be copied
    const std::string quoted = "`" + change.command + "`";
    sentence.replace(sentence.find(quoted), quoted.size(), "this command");
  }
  if (!report.advice.condition.empty() && !change.empty()) {
    text += "<p><strong>Then:</strong></p>\n";
  }
  if (change.command.empty() && !change.lines.empty()) text += lines_html(report, change);
  if (!sentence.empty()) text += fmt::format("<p>{}</p>\n", shown_sentence(report, sentence));
  if (!change.command.empty()) {
    text += fmt::format("<pre class=\"change\">{}</pre>\n", shown(report, change.command));
    if (!change.lines.empty()) text += lines_html(report, change);
  }
  if (!change.copied.empty()) {
    text += fmt::format(
        "<button type=\"button\" class=\"copy\" hidden data-copied=\"{}\">Copy {}"
        "</button>\n",
        attribute(change.copied), change.command.empty() ? "change" : "command");
  }
  return text;
}

/// "3.95x faster, 3.84 to 4.07", and how that is known.
std::string gain_words(const predict::Speedup& speedup, const std::string& kind) {
  return fmt::format("<p class=\"gained\"><strong>{}</strong> {}</p>\n", speedup_words(speedup),
                     kind);
}

std::string gain_html(const Report& report) {
  std::string text;
  if (const Verification* tried = best_verified(report.verification)) {
    text = gain_words(tried->measured, explained("measured")) +
           fmt::format("<p class=\"how\">{}.</p>\n", shown(report, proof_sentence(*tried)));
  } else if (const auto& next = report.advice.next_remedy; next) {
    const char* const of_what = report.advice.condition.empty() ? "" : " for what comes then";
    text = next->predicted ? gain_words(*next->predicted, explained("predicted") + of_what +
                                                              std::string("; not tried yet"))
                           : std::string("<p>Not predicted for this change.</p>\n");
  }
  if (text.empty() || !report.cost) return text;
  const std::string back = given_back_sentence(*report.cost);
  return back.empty() ? text : text + fmt::format("<p>{}</p>\n", escape(back));
}

/// How the run went, and what of it is missing.
std::string run_html(const Report& report) {
  std::string text = job_failed(report.facts) ? std::string() : what_happened(report);
  for (const std::string& part : {report.facts.mig, report.facts.losses, kept_text(report.facts)}) {
    if (!part.empty()) text += " " + part;
  }
  return text.empty() ? text : fmt::format("<p class=\"ran\">{}</p>\n", shown(report, text));
}

}  // namespace

std::string html_verdict(const Report& report) {
  const diagnose::Finding* lead = leading_finding(report);
  const bool failed = job_failed(report.facts);
  const std::string kind = failed ? "failed" : lead == nullptr ? "" : escape(lead->cause);
  std::string text = fmt::format(
      "<section class=\"card verdict {}\" aria-labelledby=\"verdict\">\n<h1 id=\"verdict\">{}"
      "</h1>\n",
      kind, with_whole_percents(shown(report, short_headline(report))));
  text += answer_html("Error", errors_html(report));
  // What held up a job that failed did not end it, and is no change to begin with.
  text += answer_html(failed ? "Until then" : "Why", why_html(report));
  if (!failed) {
    text += answer_html("Change", change_html(report)) + answer_html("Gain", gain_html(report));
  }
  return text + run_html(report) + tiles_html(report) + "</section>\n";
}

}  // namespace unstarve::report
