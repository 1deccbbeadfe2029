#include "tune/levers/allocators.h"

#include <filesystem>
#include <system_error>
#include <utility>

namespace unstarve::tune {

namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kFolders = {"/usr/lib/x86_64-linux-gnu",
                                           "/usr/lib/aarch64-linux-gnu", "/usr/lib64",
                                           "/usr/local/lib", "/usr/lib"};

// The smaller one first: it has no profiler of its own in it.
const std::vector<std::pair<std::string, std::string>> kFiles = {
    {"tcmalloc", "libtcmalloc_minimal.so.4"},
    {"tcmalloc", "libtcmalloc.so.4"},
    {"jemalloc", "libjemalloc.so.2"}};

}  // namespace

std::map<std::string, std::string> find_allocators(const std::vector<std::string>& folders) {
  std::map<std::string, std::string> found;
  for (const std::string& folder : folders.empty() ? kFolders : folders) {
    for (const auto& [name, file] : kFiles) {
      const std::string path = folder + "/" + file;
      std::error_code none;
      if (fs::exists(path, none)) found.try_emplace(name, path);
    }
  }
  return found;
}

}  // namespace unstarve::tune
