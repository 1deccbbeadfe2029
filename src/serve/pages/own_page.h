#pragma once

#include <string>
#include <vector>

#include "serve/http/message.h"

namespace unstarve::serve {

/// A page of the server's own. All but `title` is HTML.
struct OwnPage {
  std::string title;
  std::string links = {};  // beside the program's name
  std::string body;
  bool draws = false;  // it needs dygraphs
};

Reply own_page(const OwnPage& page);

/// Why a page cannot be shown, as a page. `status`: of HTTP.
Reply page_of_error(int status, const std::string& sentence);

/// "/run?name=..." of a run, as it may stand in an attribute.
std::string link_to(const std::string& path, const std::string& name, const std::string& run);

/// The same of several runs: "/curves?run=...&run=...".
std::string link_to_runs(const std::string& path, const std::vector<std::string>& runs);

}  // namespace unstarve::serve
