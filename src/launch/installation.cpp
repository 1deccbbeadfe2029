#include "launch/installation.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <string_view>
#include <system_error>
#include <vector>

namespace unstarve::launch {

namespace {

namespace fs = std::filesystem;

// Below a build as below the installed package.
constexpr std::string_view kEmulated = "lib/emulated";
constexpr std::string_view kRecorder = "lib/libunstarve_cupti.so";
constexpr std::string_view kLooks = "lib/libunstarve_looks.so";
constexpr std::string_view kEngine = "libunstarve_emulated_gpu.so";

/// The first of these that exists, or nothing.
std::string first_existing(std::initializer_list<fs::path> candidates) {
  for (const fs::path& candidate : candidates) {
    std::error_code unreadable;
    if (fs::exists(candidate, unreadable)) return candidate.string();
  }
  return {};
}

/// The folders in which Pythons below a prefix look for packages, and that of `pip --target`.
std::vector<fs::path> package_folders(const fs::path& prefix) {
  std::vector<fs::path> folders = {prefix};
  for (const char* library : {"lib", "lib64"}) {
    std::error_code none;
    for (fs::directory_iterator entry(prefix / library, none), end; !none && entry != end;
         entry.increment(none)) {
      if (!entry->path().filename().string().starts_with("python")) continue;
      folders.push_back(entry->path() / "site-packages");
      folders.push_back(entry->path() / "dist-packages");
    }
  }
  return folders;
}

/// The folder with the package that belongs to PREFIX/bin/unstarve. Of several Pythons below one
/// prefix the one that was installed last has also written the program.
fs::path find_package(const fs::path& prefix) {
  fs::path found;
  fs::file_time_type newest{};
  for (const fs::path& folder : package_folders(prefix)) {
    std::error_code none;
    const auto written = fs::last_write_time(folder / "unstarve" / kEmulated / kEngine, none);
    if (none || (!found.empty() && written <= newest)) continue;
    found = folder;
    newest = written;
  }
  return found;
}

Installation find_in_build() {
  const fs::path build = UNSTARVE_BINARY_DIR;
  const fs::path source = UNSTARVE_SOURCE_DIR;
  Installation found;
  found.package_dir = first_existing({build / "python", source / "python"});
  found.hook_dir = first_existing({source / "python" / "unstarve" / "hook"});
  found.cupti_library = first_existing({build / kRecorder});
  found.looks_library = first_existing({build / kLooks});
  found.emulated_libraries = first_existing({build / kEmulated});
  found.example_dir = first_existing({source / "examples"});
  found.photo_dir = first_existing({source / "tests" / "data" / "photos"});
  found.python = first_existing({source / ".venv" / "bin" / "python"});
  return found;
}

bool is_below(const fs::path& file, const fs::path& folder) {
  if (folder.empty()) return false;
  std::error_code none;
  const fs::path relative = fs::relative(file, folder, none);
  return !none && !relative.empty() && *relative.begin() != "..";
}

}  // namespace

Installation find_installed(const std::string& prefix) {
  Installation found;
  found.installed = true;
  found.python = first_existing({fs::path(prefix) / "bin" / "python"});
  const fs::path folder = find_package(prefix);
  if (folder.empty()) return found;
  const fs::path package = folder / "unstarve";
  found.package_dir = folder.string();
  found.hook_dir = first_existing({package / "hook"});
  found.cupti_library = first_existing({package / kRecorder});
  found.looks_library = first_existing({package / kLooks});
  found.emulated_libraries = first_existing({package / kEmulated});
  found.example_dir = first_existing({package / "demo"});
  found.photo_dir = first_existing({package / "demo" / "photos"});
  return found;
}

Installation find_installation(const std::string& executable) {
  Installation found =
      is_below(executable, UNSTARVE_BINARY_DIR)
          ? find_in_build()
          : find_installed(fs::path(executable).parent_path().parent_path().string());
  const char* named = std::getenv("UNSTARVE_PYTHON");
  if (named != nullptr && *named != '\0') found.python = named;
  if (found.python.empty()) found.python = "python3";
  return found;
}

std::string cupti_taken_by(const Installation& parts) {
  constexpr const char* kInjection = "CUDA_INJECTION64_PATH";
  for (const char* name :
       {"NSYS_PROFILING_SESSION_ID", "NV_NSIGHT_INJECTION_PORT_BASE", "KINETO_USE_DAEMON"}) {
    if (std::getenv(name) != nullptr) return name;
  }
  // Ours: this is a run within a run.
  const char* const theirs = std::getenv(kInjection);
  const bool foreign =
      theirs != nullptr && fs::path(theirs).filename() != fs::path(parts.cupti_library).filename();
  return foreign ? kInjection : "";
}

Result<std::string> lone_package_dir(const Installation& parts, const std::string& folder) {
  if (!parts.installed || parts.package_dir.empty()) return parts.package_dir;
  std::error_code failed;
  fs::create_directories(folder, failed);
  const fs::path link = fs::path(folder) / "unstarve";
  if (!failed && !fs::is_symlink(link)) {
    fs::create_directory_symlink(fs::path(parts.package_dir) / "unstarve", link, failed);
  }
  if (failed) {
    return fail_errno(failed.value(), fmt::format("cannot make a link to the package in {}; give "
                                                  "--out a folder that can be written",
                                                  folder));
  }
  return fs::absolute(folder).string();
}

}  // namespace unstarve::launch
