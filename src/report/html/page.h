#pragma once

#include <string>

#include "report/model/report_model.h"

namespace unstarve::report {

/// The report as one HTML file that needs nothing else: no request leaves it, and its policy lets
/// no script run but its own. It reads without scripts too; they only add the read-out of curves.
/// `links`: HTML of a server that shows it among others.
std::string render_html(const Report& report, const std::string& links = "");

/// What differs between pages: HTML, but for `title`, which is text.
struct PageContents {
  std::string title;
  std::string links = {};  // to other pages; a file has none
  std::string subtitle;
  std::string body;
  std::string footer;
};

/// One file of these, with the style, the script and the policy that all pages have.
std::string fill_page(const PageContents& contents);

}  // namespace unstarve::report
