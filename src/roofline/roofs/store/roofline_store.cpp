#include "roofline/roofs/store/roofline_store.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/io/read.h"
#include "base/io/write.h"

namespace unstarve::roofline {

namespace {

constexpr std::size_t kMostBytes = 8U << 20;
constexpr std::size_t kMostMachines = 256;

}  // namespace

std::string RooflineStore::default_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return std::string(cache) + "/unstarve/roofline";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return std::string(home) + "/.cache/unstarve/roofline";
  return {};
}

std::string RooflineStore::path_of(const std::string& key, bool modelled) const {
  return fmt::format("{}/{}{}.json", folder_, key, modelled ? "-modelled" : "");
}

Result<RooflineDocument> RooflineStore::load(const std::string& key, bool modelled) const {
  const std::string path = path_of(key, modelled);
  if (folder_.empty() || !files_.exists(path)) {
    return fail(ErrorCode::kNotFound, "nothing is kept of this machine ({})", path);
  }
  return load_file(path);
}

std::vector<RooflineDocument> RooflineStore::load_all() const {
  std::vector<std::string> paths;
  std::error_code failed;
  for (auto entry = std::filesystem::directory_iterator(folder_, failed);
       !failed && entry != std::filesystem::directory_iterator() && paths.size() < kMostMachines;
       entry.increment(failed)) {
    if (entry->path().extension() == ".json") paths.push_back(entry->path().string());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<RooflineDocument> all;
  for (const std::string& path : paths) {
    if (auto document = load_file(path)) all.push_back(std::move(*document));
  }
  return all;
}

Result<RooflineDocument> RooflineStore::load_file(const std::string& path) const {
  const auto opened = io::open_regular(files_, path, O_RDONLY);
  if (!opened) return fail_again(opened.error(), fmt::format("cannot read {}", path));
  const auto text = io::read_text(files_, path, kMostBytes);
  if (!text) return fail_again(text.error(), fmt::format("cannot read {}", path));
  auto document = parse_roofline_document(*text);
  if (!document) {
    return fail(ErrorCode::kCorruptData, "{} is not what `unstarve roofline` keeps: {}", path,
                document.error().message);
  }
  return document;
}

Status RooflineStore::save(const RooflineDocument& document) const {
  if (folder_.empty()) {
    return fail(ErrorCode::kNotFound, "neither XDG_CACHE_HOME nor HOME is set");
  }
  std::error_code failed;
  std::filesystem::create_directories(folder_, failed);
  if (failed) {
    return fail_errno(failed.value(), fmt::format("cannot make the folder {}", folder_));
  }
  const std::string path = path_of(machine_key(document.machine), document.modelled);
  const std::string text = write_roofline_document(document);
  const Status saved = io::replace_file(files_, path, std::as_bytes(std::span(text)));
  if (!saved) return fail_again(saved.error(), fmt::format("cannot write {}", path));
  return {};
}

}  // namespace unstarve::roofline
