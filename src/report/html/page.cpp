#include "report/html/page.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "report/html/assets.h"
#include "report/html/escape.h"
#include "report/html/sections.h"
#include "report/words/words.h"

namespace unstarve::report {
namespace {

/// A name between double braces in report.html, and what takes its place.
struct Slot {
  std::string_view name;
  std::string content;
};

/// Fills the page in one pass: braces inside of contents are never looked at.
std::string fill(std::string_view page, const std::vector<Slot>& slots) {
  std::string filled;
  while (true) {
    const std::size_t open = page.find("{{");
    const std::size_t close = page.find("}}", open);
    if (open == std::string_view::npos || close == std::string_view::npos) break;
    filled.append(page.substr(0, open));
    const std::string_view name = page.substr(open + 2, close - open - 2);
    for (const Slot& slot : slots) {
      if (slot.name == name) filled.append(slot.content);
    }
    page.remove_prefix(close + 2);
  }
  return filled.append(page);
}

std::string subject(const Report& report) {
  if (!report.diagnosis.run_id.empty()) return report.diagnosis.run_id;
  return report.diagnosis.file.empty() ? "diagnosis" : report.diagnosis.file;
}

std::string subtitle(const Report& report) {
  std::string text = escape(subject(report));
  if (!report.facts.started.empty()) text += " &middot; " + escape(report.facts.started);
  if (is_emulated(report)) text += " <span class=\"badge notice\">emulated GPU</span>";
  return text;
}

std::string footer(const Report& report) {
  std::string text = "Made by unstarve. This file is complete in itself: it loads nothing.";
  if (is_emulated(report)) {
    text +=
        " The GPU of this report was <strong>emulated</strong>: it follows a published profile; "
        "no real GPU was measured. " +
        escape(roofline_text(report));
  }
  return text;
}

}  // namespace

std::string render_html(const Report& report, const std::string& links) {
  std::string body;
  for (const auto& section :
       {html_verdict, html_utilization, html_partition, html_costs, html_roofline, html_comparison,
        html_findings, html_hints, html_unseen, html_facts, html_words}) {
    body += section(report);
  }
  return fill_page(
      {"unstarve: " + subject(report), links, subtitle(report), std::move(body), footer(report)});
}

std::string fill_page(const PageContents& contents) {
  return fill(assets::page(), {{"title", escape(contents.title)},
                               {"style", std::string(assets::style())},
                               {"style_hash", std::string(assets::style_hash())},
                               {"script", std::string(assets::script())},
                               {"script_hash", std::string(assets::script_hash())},
                               {"links", contents.links},
                               {"subtitle", contents.subtitle},
                               {"body", contents.body},
                               {"footer", contents.footer}});
}

}  // namespace unstarve::report
