#include "serve/pages/curves_page.h"

#include <fmt/format.h>

#include "report/html/escape.h"
#include "serve/pages/own_page.h"

namespace unstarve::serve {

Reply curves_page(const std::vector<std::string>& names) {
  OwnPage page;
  page.title = names.size() == 1 ? "Curves of a run" : "Curves of runs over each other";
  page.draws = true;
  page.links = "<nav class=\"top-facts\"><a href=\"/\">All runs</a></nav>\n";
  std::string runs;
  for (const std::string& name : names) {
    runs += fmt::format("<li data-run=\"{0}\"><a href=\"{1}\">{0}</a></li>\n", report::escape(name),
                        report::escape(link_to("/run", "name", name)));
  }
  if (names.size() > 1) {
    runs += fmt::format("<li><a href=\"{}\">What differs between them</a></li>\n",
                        report::escape(link_to_runs("/compare", names)));
  }
  page.body = fmt::format(
      "<section class=\"card\">\n<ul class=\"chosen\" id=\"chosen\">\n{}</ul>\n"
      "<p class=\"tools\"><label for=\"metric\">Add a curve</label> <select id=\"metric\">"
      "<option value=\"\">choose a metric</option></select> "
      "<label><input type=\"checkbox\" id=\"since-training\"> times since the training began"
      "</label> <button type=\"button\" id=\"whole\">Show all of it</button></p>\n"
      "<p class=\"note\">Drag over a curve to look closer; every curve follows. A line is the mean "
      "of its stretch, the band its least and largest sample.</p>\n"
      "<noscript><p>Curves are drawn by a script. Without one: <code>/api/series.svg</code>, "
      "<code>/api/series.csv</code>.</p></noscript>\n</section>\n"
      "<div id=\"charts\"></div>\n",
      runs);
  return own_page(page);
}

}  // namespace unstarve::serve
