#include "examine/history/trial_dirs.h"

#include <filesystem>
#include <system_error>

namespace unstarve::examine {

namespace {

namespace fs = std::filesystem;

}  // namespace

std::string trial_dir(const std::string& folder, const std::string& label) {
  return (fs::path(folder) / label).string();
}

bool holds_run(const std::string& folder) {
  std::error_code unknown;
  return fs::exists(fs::path(folder) / "run.sqlite", unknown);
}

bool holds_trials(const std::string& folder) {
  return !holds_run(folder) && holds_run(trial_dir(folder, kBefore));
}

}  // namespace unstarve::examine
