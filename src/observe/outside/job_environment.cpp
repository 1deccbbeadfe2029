#include <algorithm>
#include <string_view>

#include "observe/outside/job_process.h"

namespace unstarve::observe {

namespace {

std::string_view name_of(std::string_view entry) { return entry.substr(0, entry.find('=')); }

void set(std::vector<std::string>& environment, const std::string& name, const std::string& value) {
  const auto same = [&name](const std::string& entry) { return name_of(entry) == name; };
  const auto known = std::find_if(environment.begin(), environment.end(), same);
  const std::string entry = name + "=" + value;
  if (known == environment.end()) {
    environment.push_back(entry);
  } else {
    *known = entry;
  }
}

std::string_view get(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& entry : environment) {
    if (name_of(entry) == name && entry.size() > name.size()) {
      return std::string_view(entry).substr(name.size() + 1);
    }
  }
  return {};
}

}  // namespace

std::vector<std::string> job_environment(const JobOptions& options, const char* const* ours) {
  std::vector<std::string> environment;
  for (; ours != nullptr && *ours != nullptr; ++ours) environment.emplace_back(*ours);
  for (const auto& [name, value] : options.environment) set(environment, name, value);
  if (!options.run_dir.empty()) set(environment, "UNSTARVE_RUN_DIR", options.run_dir);
  if (!options.hook_dir.empty()) {
    // An empty entry would mean the current folder to Python, so no colon without a successor.
    const std::string_view theirs = get(environment, "PYTHONPATH");
    std::string path = options.hook_dir;
    if (!theirs.empty()) path.append(":").append(theirs);
    set(environment, "PYTHONPATH", path);
  }
  return environment;
}

}  // namespace unstarve::observe
