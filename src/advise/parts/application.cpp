#include "advise/parts/application.h"

#include <fmt/format.h>

namespace unstarve::advise {

std::vector<std::pair<std::string, std::string>> Application::environment() const {
  if (fix.empty()) return {};
  std::string members;
  for (const auto& [name, value] : fix) {
    members += fmt::format(R"({}"{}": {})", members.empty() ? "" : ", ", name, value);
  }
  std::vector<std::pair<std::string, std::string>> variables = {
      {"UNSTARVE_FIX", "{" + members + "}"}};
  if (is_drop_in()) variables.emplace_back("UNSTARVE_CACHE_DIR", "");  // no first epoch of it
  return variables;
}

Application Application::as_written() const {
  Application written;
  if (keeps_samples()) written.fix = {{"cache", "true"}};
  written.needs_package = needs_package;
  return written;
}

Application combined(const Application& kept, const Application& more) {
  Application both = more;
  for (const auto& [name, value] : kept.fix) {
    const bool of_torchs = name != "pin_memory";
    if (more.has_threads() && of_torchs) continue;
    both.fix.emplace(name, value);
  }
  both.needs_package = kept.needs_package || more.needs_package;
  return both;
}

}  // namespace unstarve::advise
