#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/number_words.h"
#include "report/headline.h"
#include "report/html/escape.h"
#include "report/html/sections.h"
#include "report/words/words.h"

namespace unstarve::report {
namespace {

/// A number in large type; `before` is empty where there is nothing to compare with.
struct Tile {
  std::string name;
  std::string before;
  std::string now;
};

std::string tile_html(const Tile& tile) {
  std::string text = fmt::format("<div class=\"tile\"><dt>{}</dt><dd>", escape(tile.name));
  if (!tile.before.empty()) {
    text += fmt::format(
        "<span class=\"was\">{}</span> <span class=\"to\" aria-label=\"became\">&rarr;</span> ",
        escape(tile.before));
  }
  return text + fmt::format("<span class=\"now\">{}</span></dd></div>", escape(tile.now));
}

void add_change(const char* name, const Reading<double>& before, const Reading<double>& after,
                std::string (*format)(double), std::vector<Tile>& tiles) {
  if (before && after) tiles.push_back({name, format(*before), format(*after)});
}

std::vector<Tile> tiles_of_change(const Verification& tried) {
  std::vector<Tile> tiles = {{"Speed-up", "", number_text(tried.measured.speedup) + "x"}};
  add_change("AU", tried.before.au, tried.after.au, percent_cell, tiles);
  add_change("Samples per second", tried.before.samples_per_s, tried.after.samples_per_s,
             number_text, tiles);
  tiles.push_back(
      {"Step", microseconds_text(tried.before.step_us), microseconds_text(tried.after.step_us)});
  add_change("CPU cores", tried.before.cpu_cores, tried.after.cpu_cores, number_text, tiles);
  return tiles;
}

std::vector<Tile> tiles_of_state(const Report& report) {
  const diagnose::Diagnosis& diagnosis = report.diagnosis;
  std::vector<Tile> tiles;
  if (const diagnose::DeviceDiagnosis* device = shown_device(diagnosis)) {
    tiles.push_back({"GPU busy", "", percent_cell(device->gpu_busy_ratio)});
  }
  const diagnose::Finding* lead = leading_finding(report);
  if (lead != nullptr && diagnosis.partition) {
    tiles.push_back({finding_title(*lead), "", percent_cell(lead->share)});
  }
  if (diagnosis.steps.median_us) {
    tiles.push_back({"Median step", "", microseconds_text(*diagnosis.steps.median_us)});
  }
  return tiles;
}

std::string happened_html(const Report& report) {
  std::string text = what_happened(report);
  if (!report.facts.mig.empty()) text += " " + report.facts.mig;
  if (!report.facts.losses.empty()) text += " " + report.facts.losses;
  if (const std::string kept = kept_text(report.facts); !kept.empty()) text += " " + kept;
  return text.empty() ? "" : fmt::format("<dt>Run</dt><dd><p>{}</p></dd>", escape(text));
}

std::string errors_html(const Report& report) {
  std::string text;
  for (const std::string& error : error_sentences(report)) {
    text += fmt::format("<p>{}</p>", escape(error));
  }
  return text.empty() ? "" : fmt::format("<dt>Error</dt><dd>{}</dd>", text);
}

std::string why_html(const Report& report) {
  const diagnose::Finding* lead = leading_finding(report);
  if (lead == nullptr || lead->evidence.empty()) return {};
  const auto& evidence = lead->evidence;
  std::string text = "<dt>Why</dt><dd>";
  for (std::size_t i = 0; i < std::min<std::size_t>(evidence.size(), 2); ++i) {
    text += fmt::format("<p>{}</p>", escape(evidence[i]));
  }
  return text + "</dd>";
}

/// A line for each of the diff's, which escape() would make blanks of.
std::string diff_html(std::string_view diff) {
  std::string text;
  while (!diff.empty()) {
    const std::size_t end = std::min(diff.find('\n'), diff.size());
    text += escape(diff.substr(0, end)) + "\n";
    diff.remove_prefix(std::min(end + 1, diff.size()));
  }
  return fmt::format("<dt>Change</dt><dd><pre>{}</pre></dd>", text);
}

std::string last_line_html(const Report& report) {
  if (const Verification* tried = best_verified(report.verification)) {
    std::string text =
        fmt::format("<dt>Proof</dt><dd><p>{}</p></dd>", escape(proof_sentence(*tried)));
    if (tried->outcome == trial::Outcome::kKept && !tried->diff.empty()) {
      text += diff_html(tried->diff);
    }
    return text;
  }
  const std::string next = next_sentence(report.advice);
  return next.empty() ? "" : fmt::format("<dt>Next</dt><dd><p>{}</p></dd>", escape(next));
}

/// In few words, and below it what they are short for; without such words the verdict.
std::string headline_html(const Report& report) {
  const advise::Advice& advice = report.advice;
  const std::string& no_steps = report.facts.no_steps;
  const std::string headline = short_headline(report);
  if (headline.empty()) return fmt::format("<h1>{}</h1>\n", escape(advice.verdict));
  const std::string& cause = advice.cause.empty() ? advice.verdict : advice.cause;
  std::string text = fmt::format("<h1>{}</h1>\n<p class=\"cause\">{}</p>\n", escape(headline),
                                 escape(no_steps.empty() ? cause : no_steps));
  if (!advice.condition.empty()) {
    text += fmt::format("<p class=\"cause\">{}</p>\n", escape(advice.condition));
  }
  return text;
}

}  // namespace

std::string html_verdict(const Report& report) {
  const Verification* tried = best_verified(report.verification);
  std::string tiles;
  for (const Tile& tile : tried != nullptr ? tiles_of_change(*tried) : tiles_of_state(report)) {
    tiles += tile_html(tile);
  }
  const diagnose::Finding* lead = leading_finding(report);
  std::string text =
      fmt::format("<section class=\"card verdict {}\">\n<p class=\"eyebrow\">Verdict</p>\n",
                  lead == nullptr ? "" : escape(lead->cause));
  text += headline_html(report);
  const std::string lines =
      happened_html(report) + errors_html(report) + why_html(report) + last_line_html(report);
  if (!lines.empty()) text += fmt::format("<dl class=\"why\">{}</dl>\n", lines);
  if (!tiles.empty()) text += fmt::format("<dl class=\"tiles\">{}</dl>\n", tiles);
  return text + "</section>\n";
}

}  // namespace unstarve::report
