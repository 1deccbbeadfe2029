#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "base/number_words.h"
#include "predict/speedup.h"
#include "report/headline.h"
#include "report/html/escape.h"
#include "report/html/scale.h"
#include "report/html/sections.h"
#include "report/html/terms.h"
#include "report/words/words.h"

namespace unstarve::report {
namespace {

/// Lines of the source that go and come, one below the other.
std::string edit_html(std::string_view edit) {
  std::string lines;
  while (!edit.empty()) {
    const std::size_t end = std::min(edit.find('\n'), edit.size());
    lines += fmt::format("<code>{}</code>\n", escape(edit.substr(0, end)));
    edit.remove_prefix(std::min(end + 1, edit.size()));
  }
  return lines.empty() ? lines : fmt::format("<p class=\"edit\">\n{}</p>", lines);
}

std::string remedy_html(const advise::Remedy& remedy) {
  const std::string gain =
      remedy.predicted
          ? fmt::format("predicted <strong>{}</strong>", speedup_text(*remedy.predicted))
          : fmt::format("gain not predicted: {}", why_words(remedy.predicted.why_absent()));
  return fmt::format("<li><p>{}</p>{}<p class=\"gain\"><code>{}</code> {}</p></li>\n",
                     escape(remedy.how), edit_html(remedy.edit), escape(remedy.id), gain);
}

std::string finding_html(const diagnose::Finding& finding,
                         std::span<const advise::Remedy> remedies) {
  const std::string share = percent_cell(finding.share);
  std::string text =
      fmt::format("<article class=\"finding\">\n<h3><span>{}</span>", explained_title(finding));
  const bool sure = finding.confidence == diagnose::Confidence::kClear;
  text += fmt::format(" <span class=\"badge {}\">{}</span>", sure ? "good" : "notice",
                      explained(confidence_name(finding.confidence)));
  text += fmt::format(
      "<span class=\"share-text\">{0}</span></h3>\n<svg class=\"meter\" width=\"100%\" "
      "height=\"6\" aria-hidden=\"true\"><rect class=\"meter-all\" width=\"100%\" height=\"6\"/>"
      "<rect class=\"share {1}\" width=\"{2}\" height=\"6\"/></svg>\n",
      share, escape(finding.cause), Scale{0, 1}.percent(finding.share));
  if (!finding.evidence.empty()) {
    text += "<ul class=\"evidence\">\n";
    for (const std::string& evidence : finding.evidence) {
      text += fmt::format("<li>{}</li>\n", escape(evidence));
    }
    text += "</ul>\n";
  }
  if (remedies.empty()) return text + "</article>\n";
  text += "<h4>What to do</h4>\n<ol class=\"remedies\">\n";
  for (const advise::Remedy& remedy : remedies) text += remedy_html(remedy);
  return text + "</ol>\n</article>\n";
}

/// Names beside values, without those that are empty.
std::string facts_list(const std::vector<Fact>& facts) {
  std::string text;
  for (const Fact& fact : facts) {
    if (fact.value.empty()) continue;
    text +=
        fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escape(fact.name), escape(fact.value));
  }
  return text.empty() ? text : fmt::format("<dl class=\"facts\">\n{}</dl>\n", text);
}

std::vector<Fact> run_facts(const Report& report) {
  const RunFacts& facts = report.facts;
  const diagnose::Diagnosis& diagnosis = report.diagnosis;
  std::vector<Fact> list = {{"Command", facts.command},
                            {"Started", facts.started},
                            {"Host", facts.host},
                            {"Device", device_text(report)}};
  if (facts.duration_s) list.push_back({"Watched for", seconds_text(*facts.duration_s)});
  if (diagnosis.steps.count > 0)
    list.push_back({"Steps", fmt::format("{}", diagnosis.steps.count)});
  if (diagnosis.copies.h2d_count > 0) {
    list.push_back(
        {"Copied to the device",
         fmt::format("{} in {} copies", bytes_text(static_cast<double>(diagnosis.copies.h2d_bytes)),
                     diagnosis.copies.h2d_count)});
  }
  list.push_back({"Read from", diagnosis.file});
  for (const Fact& version : facts.versions) list.push_back(version);
  return list;
}

}  // namespace

std::string html_findings(const Report& report) {
  if (report.diagnosis.findings.empty()) return {};
  std::string text = "<section class=\"card\">\n<h2>Findings</h2>\n";
  const std::string& cause =
      report.advice.cause.empty() ? report.advice.verdict : report.advice.cause;
  if (!cause.empty()) text += fmt::format("<p class=\"cause\">{}</p>\n", escape(cause));
  const std::vector<diagnose::Finding>& findings = report.diagnosis.findings;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    text += finding_html(findings[i], report.advice.of_finding(i));
  }
  return text + "</section>\n";
}

std::string html_hints(const Report& report) {
  if (report.diagnosis.hints.empty()) return {};
  std::string text = "<section class=\"card\">\n<h2>Rules of thumb</h2>\n<ul class=\"evidence\">\n";
  for (const diagnose::Hint& hint : report.diagnosis.hints) {
    text += fmt::format("<li>{}", escape(hint.says));
    if (!hint.cannot_tell.empty()) {
      text += fmt::format(" <span class=\"how\">But: {}.</span>", escape(hint.cannot_tell));
    }
    text += "</li>\n";
  }
  return text + "</ul>\n</section>\n";
}

std::string html_unseen(const Report& report) {
  std::vector<Fact> facts;
  for (const Unseen& unseen : unseen_by_reason(report.diagnosis)) {
    facts.push_back({std::string(why_words(unseen.why)),
                     fmt::format("{}; so no word on {}", fmt::join(unseen.signals, ", "),
                                 fmt::join(unseen.rules, ", "))});
  }
  if (facts.empty()) return {};
  return "<section class=\"card\">\n<h2>Not seen, so not judged</h2>\n" + facts_list(facts) +
         "</section>\n";
}

std::string html_facts(const Report& report) {
  std::string text;
  if (const std::string facts = facts_list(run_facts(report)); !facts.empty()) {
    text += "<section class=\"card\">\n<h2>The run</h2>\n" + facts + "</section>\n";
  }
  if (const std::string cost = facts_list(report.own_cost); !cost.empty()) {
    text += "<section class=\"card\">\n<h2>What watching cost</h2>\n" + cost + "</section>\n";
  }
  return text;
}

}  // namespace unstarve::report
