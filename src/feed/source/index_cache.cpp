#include "feed/source/index_cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include <xxhash.h>

#include "base/unique_handle.h"

namespace unstarve::feed {
namespace {

class MappedBytes final : public IndexBytes {
 public:
  MappedBytes(FileDescriptor file, void* start, std::size_t size)
      : file_(std::move(file)), start_(start), size_(size) {}
  MappedBytes(const MappedBytes&) = delete;
  MappedBytes& operator=(const MappedBytes&) = delete;
  ~MappedBytes() override { ::munmap(start_, size_); }
  std::span<const std::byte> bytes() const override {
    return {static_cast<const std::byte*>(start_), size_};
  }
  int file() const override { return file_.get(); }

 private:
  FileDescriptor file_;
  void* start_;
  std::size_t size_;
};

std::shared_ptr<const IndexBytes> map_file(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status = {};
  if (!file || ::fstat(file.get(), &status) != 0) return nullptr;
  // Another user's file would decide which files this one opens.
  if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid() || status.st_size == 0) {
    return nullptr;
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* start = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
  if (start == MAP_FAILED) return nullptr;
  return std::make_shared<MappedBytes>(std::move(file), start, size);
}

Status write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail_errno(errno, "cannot write an index");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
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
  const XXH128_hash_t hash = XXH3_128bits(name.data(), name.size());
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
  const std::string path = path_of(name, ending);
  std::string temporary = path + "-XXXXXX";
  const FileDescriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file) return fail_errno(errno, fmt::format("cannot make a file in {}", folder_));
  Status status = write_all(file.get(), bytes);
  if (status && ::rename(temporary.c_str(), path.c_str()) != 0) {
    status = fail_errno(errno, fmt::format("cannot rename {}", temporary));
  }
  if (!status) ::unlink(temporary.c_str());
  return status;
}

}  // namespace unstarve::feed
