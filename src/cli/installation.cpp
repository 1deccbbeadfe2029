#include "cli/installation.h"

#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <string_view>
#include <system_error>

namespace unstarve::cli {

namespace {

namespace fs = std::filesystem;

/// The first of these that exists, or nothing.
std::string first_existing(std::initializer_list<fs::path> candidates) {
  for (const fs::path& candidate : candidates) {
    std::error_code unreadable;
    if (fs::exists(candidate, unreadable)) return candidate.string();
  }
  return {};
}

}  // namespace

Installation find_installation(const std::string& executable) {
  // An installed prefix has bin/unstarve and share/unstarve; a build tree knows both its folders.
  const fs::path share = fs::path(executable).parent_path().parent_path() / "share" / "unstarve";
  const fs::path library = fs::path(executable).parent_path().parent_path() / "lib";
  const fs::path build = UNSTARVE_BINARY_DIR;
  const fs::path source = UNSTARVE_SOURCE_DIR;
  constexpr std::string_view kNvml = "libunstarve_emulated_nvml.so";

  Installation found;
  found.package_dir = first_existing({share / "python", build / "python", source / "python"});
  found.hook_dir = first_existing(
      {share / "python" / "unstarve" / "hook", source / "python" / "unstarve" / "hook"});
  found.emulated_nvml = first_existing({library / kNvml, build / "src" / "device" / kNvml,
                                        build / "src" / "device" / "emulated" / "nvml" / kNvml});
  found.example_dir = first_existing({share / "examples", source / "examples"});
  found.photo_dir = first_existing({share / "photos", source / "tests" / "data" / "photos"});
  const char* named = std::getenv("UNSTARVE_PYTHON");
  if (named != nullptr && *named != '\0') {
    found.python = named;
  } else {
    found.python = first_existing({source / ".venv" / "bin" / "python"});
    if (found.python.empty()) found.python = "python3";
  }
  return found;
}

}  // namespace unstarve::cli
