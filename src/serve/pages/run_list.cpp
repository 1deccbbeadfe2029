#include "serve/pages/run_list.h"

#include <fmt/format.h>

#include "base/number_words.h"
#include "report/html/escape.h"
#include "report/runs/runs_text.h"
#include "report/terminal/terminal.h"
#include "serve/pages/own_page.h"

namespace unstarve::serve {

namespace {

/// What of it a row has room for.
std::string shown_command(const runs::RunSummary& run) {
  report::TextOptions options;
  constexpr int kColumnsMax = 120;
  const std::string text = report::printable(report::command_text(run), options);
  return report::escape(report::clip(text, kColumnsMax, options));
}

std::string tags_html(const runs::RunSummary& run) {
  std::string text;
  for (const std::string& tag : runs::tags_of(run)) {
    text += fmt::format("<span class=\"badge\">{}</span> ", report::escape(tag));
  }
  return text;
}

std::string row_html(const runs::ListedRun& listed, std::size_t number) {
  const runs::RunSummary& run = listed.run->summary;
  const std::string name = report::escape(listed.name);
  return fmt::format(
      "<tr><td><input type=\"checkbox\" name=\"run\" value=\"{0}\" id=\"run-{1}\" "
      "aria-label=\"choose {0}\"></td>"
      "<th scope=\"row\"><a href=\"{2}\">{0}</a>{3}<div class=\"command\">{4}</div></th>"
      "<td>{5}</td><td>{6}</td><td>{7}</td><td>{8}</td><td>{9}</td><td>{10}</td></tr>\n",
      name, number, report::escape(link_to("/run", "name", listed.name)),
      listed.of_runs > 1 ? fmt::format(" (+{})", listed.of_runs - 1) : "", shown_command(run),
      report::escape(report::local_time_text(run.started_wall_ns, false)),
      run.duration_s ? seconds_text(*run.duration_s) : "-",
      report::escape(report::state_words(listed)), report::escape(report::gpu_summary(run)),
      report::escape(report::verdict_words(*listed.run)), tags_html(run));
}

}  // namespace

Reply run_list_page(const std::vector<runs::ListedRun>& listed, const std::string& folder) {
  OwnPage page;
  page.title = "Runs";
  page.links = fmt::format("<span class=\"top-facts\">{}</span>\n", report::escape(folder));
  page.body =
      "<section class=\"card\" id=\"live\" hidden aria-live=\"off\"><h2>Going on now</h2>"
      "<div id=\"jobs\"></div></section>\n";
  std::string rows;
  for (std::size_t i = 0; i < listed.size(); ++i) rows += row_html(listed[i], i);
  if (rows.empty()) {
    page.body +=
        "<section class=\"card\"><p>No run lies in this folder. <code>unstarve run -- python "
        "train.py</code> makes one.</p></section>\n";
    return own_page(page);
  }
  page.body += fmt::format(
      "<form class=\"card\" action=\"/compare\" method=\"get\">\n"
      "<p class=\"tools\"><label for=\"search\">Search</label> <input type=\"search\" "
      "id=\"search\" autocomplete=\"off\"> <span id=\"found\" role=\"status\">{} runs</span> "
      "<button type=\"submit\">Compare the chosen</button> "
      "<button type=\"submit\" formaction=\"/curves\">Draw them over each other</button></p>\n"
      "<div class=\"wide\"><table class=\"runs\" id=\"runs\"><thead><tr><th><span "
      "class=\"unseen\">Chosen</span></th><th scope=\"col\">Run</th><th scope=\"col\">Began</th>"
      "<th scope=\"col\">Took</th><th scope=\"col\">State</th><th scope=\"col\">GPU</th>"
      "<th scope=\"col\">Verdict</th><th scope=\"col\">Tags</th></tr></thead>\n"
      "<tbody>\n{}</tbody></table></div></form>\n",
      listed.size(), rows);
  return own_page(page);
}

}  // namespace unstarve::serve
