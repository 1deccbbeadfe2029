#include "isolation/kept_places.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "isolation/mount_table.h"

namespace unstarve::isolation {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostSockets = 256;

/// A cache's variable, and where it is without: below the folder for caches, or below home.
struct Cache {
  const char* variable;
  const char* in_caches;
  const char* in_home;
};

constexpr std::array<Cache, 15> kCaches = {{
    {"HF_HOME", "huggingface", nullptr},
    {"HF_HUB_CACHE", nullptr, nullptr},
    {"HF_DATASETS_CACHE", nullptr, nullptr},
    {"TRANSFORMERS_CACHE", nullptr, nullptr},
    {"TORCH_HOME", "torch", nullptr},
    {"TORCH_EXTENSIONS_DIR", "torch_extensions", nullptr},
    {"TORCHINDUCTOR_CACHE_DIR", nullptr, nullptr},
    {"TRITON_CACHE_DIR", nullptr, ".triton/cache"},
    {"CUDA_CACHE_PATH", nullptr, ".nv/ComputeCache"},
    {"NUMBA_CACHE_DIR", nullptr, nullptr},
    {"FLASHINFER_WORKSPACE_BASE", "flashinfer", nullptr},
    {"VLLM_CACHE_ROOT", "vllm", nullptr},
    {"CCACHE_DIR", "ccache", nullptr},
    {"UNSTARVE_CACHE_DIR", "unstarve", nullptr},
    // Of pipes and sockets, by which processes share a GPU.
    {"CUDA_MPS_PIPE_DIRECTORY", nullptr, nullptr},
}};

void add(std::vector<std::string>& paths, const std::string& path) {
  std::error_code failed;
  const fs::path real = fs::canonical(path, failed);
  if (failed || !fs::is_directory(real, failed) || real == "/") return;
  if (std::find(paths.begin(), paths.end(), real.string()) == paths.end()) {
    paths.push_back(real.string());
  }
}

std::string text_of(const char* value) { return value == nullptr ? "" : value; }

/// As Python's getpass.getuser() finds it.
std::string user_name(const Variables& variables) {
  for (const char* const variable : {"LOGNAME", "USER", "LNAME", "USERNAME"}) {
    if (const std::string name = text_of(variables(variable)); !name.empty()) return name;
  }
  const passwd* const entry = ::getpwuid(::geteuid());
  return entry == nullptr ? "" : entry->pw_name;
}

}  // namespace

std::vector<std::string> shared_caches(const Variables& variables) {
  const std::string home = text_of(variables("HOME"));
  std::string caches = text_of(variables("XDG_CACHE_HOME"));
  if (caches.empty() && !home.empty()) caches = home + "/.cache";
  std::vector<std::string> found;
  for (const Cache& cache : kCaches) {
    const std::string named = text_of(variables(cache.variable));
    if (!named.empty()) {
      add(found, named);
      continue;
    }
    if (cache.in_caches != nullptr && !caches.empty()) add(found, caches + "/" + cache.in_caches);
    if (cache.in_home != nullptr && !home.empty()) add(found, home + "/" + cache.in_home);
  }
  // An emulated GPU's memory, which all processes of its machine share.
  if (const std::string settings = text_of(variables("UNSTARVE_EMULATED_GPU")); !settings.empty()) {
    add(found, fs::path(settings).parent_path().string());
  }
  // Where torch has it otherwise (torch._inductor.runtime.cache_dir_utils).
  std::error_code none;
  const std::string temporary = fs::temp_directory_path(none).string();
  if (!none) {
    add(found, temporary + "/torchinductor_" + user_name(variables));
    add(found, temporary + "/nvidia-mps");
  }
  return found;
}

std::vector<std::string> missing_compiler_caches(const Variables& variables) {
  std::vector<std::string> missing;
  std::error_code none;
  const fs::path temporary = fs::temp_directory_path(none);
  if (text_of(variables("TORCHINDUCTOR_CACHE_DIR")).empty() &&
      !fs::exists(temporary / ("torchinductor_" + user_name(variables)), none)) {
    missing.emplace_back("TORCHINDUCTOR_CACHE_DIR");
  }
  if (text_of(variables("TRITON_CACHE_DIR")).empty() &&
      !fs::exists(fs::path(text_of(variables("HOME"))) / ".triton/cache", none)) {
    missing.emplace_back("TRITON_CACHE_DIR");
  }
  return missing;
}

std::vector<std::string> open_sockets(std::string_view unix_table) {
  // Num RefCount Protocol Flags Type St Inode Path
  std::vector<std::string> found;
  while (!unix_table.empty() && found.size() < kMostSockets) {
    const std::size_t end = std::min(unix_table.find('\n'), unix_table.size());
    const std::string_view line = unix_table.substr(0, end);
    unix_table.remove_prefix(std::min(end + 1, unix_table.size()));
    const std::size_t at = line.find(" /");
    if (at == std::string_view::npos) continue;
    const std::string path(line.substr(at + 1));
    struct stat state {};
    if (lies_in(path, "/run") || ::lstat(path.c_str(), &state) != 0 || !S_ISSOCK(state.st_mode)) {
      continue;
    }
    if (std::find(found.begin(), found.end(), path) == found.end()) found.push_back(path);
  }
  return found;
}

}  // namespace unstarve::isolation
