#include "feed/cache/cache_folder.h"

#include <array>
#include <utility>

#include "base/io/read.h"
#include "base/io/write.h"
#include "feed/shard/shard_files.h"

namespace unstarve::feed {
namespace {

std::uint64_t slot_offset(std::uint64_t index) {
  return sizeof(CacheHeader) + index * sizeof(CacheEntry);
}

/// What an entry's seal has mixed into it, so that an entry in another's place is not taken for
/// its own: files that were made in one moment with one length have the same stamp.
std::uint64_t place_of(std::uint64_t key, std::uint64_t index) {
  const std::array<std::uint64_t, 2> place = {key, index};
  return checksum_of(bytes_of(place));
}

}  // namespace

Result<std::unique_ptr<CacheFolder>> CacheFolder::open(std::shared_ptr<io::Files> storage,
                                                       const std::string& directory,
                                                       const DataSet& data_set) {
  const std::string path = fmt::format("{}/{:016x}", directory, data_set.key);
  if (Status status = make_own_folder(*storage, path); !status) return forward_error(status);
  std::unique_ptr<CacheFolder> folder(new CacheFolder(std::move(storage), path, data_set));
  if (Status status = folder->open_slots(); !status) return error_in(path, status.error());
  return folder;
}

/// Several processes may do this at once: each writes the same, and nothing of use ever shrinks.
Status CacheFolder::open_slots() {
  Result<FileDescriptor> file = open_to_write(*storage_, path_ + "/slots");
  if (!file) return forward_error(file);
  slots_ = std::move(*file);
  const std::uint64_t wanted = slot_offset(data_set_.samples);
  const Result<std::uint64_t> size = io::size_of(*storage_, slots_.get());
  if (!size) return forward_error(size);
  CacheHeader found;
  if (*size >= sizeof(found)) {
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(&found, 1));
    if (Status status = io::read_exactly(*storage_, slots_.get(), 0, bytes); !status) return status;
    if (is_sealed(found) && found.magic == kCacheMagic && found.version != kCacheVersion) {
      return fail(ErrorCode::kNotSupported,
                  "the cache has format version {}, this program reads {}: remove it, or name "
                  "another folder",
                  found.version, kCacheVersion);
    }
  }
  if (*size != wanted) {
    if (Status status = storage_->truncate(slots_.get(), wanted); !status) return status;
  }
  CacheHeader header;
  header.key = data_set_.key;
  header.samples = data_set_.samples;
  seal(header);
  if (found.checksum == header.checksum && is_sealed(found)) return {};
  // New, cut off by a crash, or damaged: entries have seals of their own.
  return io::write_all_at(*storage_, slots_.get(), 0, bytes_of(header));
}

std::optional<CacheEntry> CacheFolder::entry(std::uint64_t index) const {
  CacheEntry entry;
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(&entry, 1));
  if (!io::read_exactly(*storage_, slots_.get(), slot_offset(index), bytes)) return std::nullopt;
  entry.checksum ^= place_of(data_set_.key, index);
  if (entry.state == 0 || !is_sealed(entry)) return std::nullopt;
  return entry;
}

Status CacheFolder::write_entry(std::uint64_t index, CacheEntry entry) {
  seal(entry);
  entry.checksum ^= place_of(data_set_.key, index);
  return io::write_all_at(*storage_, slots_.get(), slot_offset(index), bytes_of(entry));
}

std::string CacheFolder::copies_path(std::uint16_t number) const {
  return fmt::format("{}/copies-{:02}.ush", path_, number);
}

Result<std::shared_ptr<const FileDescriptor>> CacheFolder::copies(std::uint16_t number) {
  if (number >= kFilesMax) return fail(ErrorCode::kCorruptData, "no cache has so many files");
  const MutexLock lock(mutex_);
  if (files_.size() <= number) files_.resize(number + std::size_t{1});
  std::shared_ptr<const FileDescriptor>& file = files_[number];
  if (file == nullptr) {
    Result<FileDescriptor> opened = open_to_read(*storage_, copies_path(number));
    if (!opened) return forward_error(opened);
    file = std::make_shared<const FileDescriptor>(std::move(*opened));
  }
  return file;
}

Result<std::uint64_t> CacheFolder::bytes() {
  // Looking for a file that is not there takes longer than all else here.
  constexpr std::uint32_t kSumsPerLook = 32;
  const bool look = sums_.fetch_add(1, std::memory_order_relaxed) % kSumsPerLook == 0;
  std::uint64_t sum = slot_offset(data_set_.samples);
  for (std::uint16_t number = 0; number < kFilesMax; ++number) {
    if (!look && !is_open(number)) break;
    const auto file = copies(number);
    if (!file && file.error().code == ErrorCode::kNotFound) break;  // they are made in order
    if (!file) return forward_error(file);
    const Result<std::uint64_t> size = io::size_of(*storage_, (*file)->get());
    if (!size) return forward_error(size);
    sum += *size;
  }
  return sum;
}

bool CacheFolder::is_open(std::uint16_t number) {
  const MutexLock lock(mutex_);
  return number < files_.size() && files_[number] != nullptr;
}

}  // namespace unstarve::feed
