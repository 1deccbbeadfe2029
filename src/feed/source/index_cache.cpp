#include "feed/source/index_cache.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include <xxhash.h>

#include "base/io/read.h"
#include "base/io/write.h"
#include "feed/formats/image_format.h"

namespace unstarve::feed {
namespace {

class MappedBytes final : public IndexBytes {
 public:
  MappedBytes(FileDescriptor file, io::Mapping mapping)
      : file_(std::move(file)), mapping_(std::move(mapping)) {}
  std::span<const std::byte> bytes() const override { return mapping_.bytes(); }
  int file() const override { return file_.get(); }

 private:
  FileDescriptor file_;
  io::Mapping mapping_;
};

std::shared_ptr<const IndexBytes> map_file(const std::string& path) {
  io::Files files;
  Result<io::OpenFile> opened = io::open_regular(files, path, O_RDONLY);
  // Another user's file would decide which files this one opens.
  if (!opened || opened->state.owner != ::geteuid()) return nullptr;
  const auto size = static_cast<std::size_t>(opened->state.size);
  Result<io::Mapping> mapping = files.map(opened->file.get(), size, io::MapAccess::kRead);
  if (!mapping) return nullptr;  // of an empty file too
  return std::make_shared<MappedBytes>(std::move(opened->file), std::move(*mapping));
}

}  // namespace

std::string IndexCache::default_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return std::string(cache) + "/unstarve/index";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return std::string(home) + "/.cache/unstarve/index";
  return {};
}

std::string IndexCache::path_of(const std::string& name, std::string_view ending) const {
  // An index lists the images that were decoded when it was made.
  const std::string listed = name + '\n' + image_format_names();
  const XXH128_hash_t hash = XXH3_128bits(listed.data(), listed.size());
  return fmt::format("{}/{:016x}{:016x}.{}", folder_, hash.high64, hash.low64, ending);
}

std::shared_ptr<const IndexBytes> IndexCache::load_bytes(const std::string& name,
                                                         std::string_view ending) const {
  return folder_.empty() ? nullptr : map_file(path_of(name, ending));
}

std::optional<FolderIndex> IndexCache::load(const std::string& root) const {
  std::shared_ptr<const IndexBytes> bytes = load_bytes(root, "folder");
  if (bytes == nullptr) return std::nullopt;
  Result<FolderIndex> index = FolderIndex::parse(std::move(bytes));
  if (!index || !index->is_of(root)) return std::nullopt;
  return std::move(*index);
}

Status IndexCache::store(const std::string& root, const FolderIndex& index) const {
  return store_bytes(root, "folder", index.bytes());
}

Status IndexCache::store_bytes(const std::string& name, std::string_view ending,
                               std::span<const std::byte> bytes) const {
  if (folder_.empty()) return {};
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) return fail_errno(error.value(), fmt::format("cannot make {}", folder_));
  io::Files files;
  return io::replace_file(files, path_of(name, ending), bytes, 0600);
}

}  // namespace unstarve::feed
