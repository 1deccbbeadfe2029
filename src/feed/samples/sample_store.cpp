#include "feed/samples/sample_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <utility>

#include "base/io/read.h"
#include "base/io/write.h"
#include "feed/shard/checksum.h"
#include "feed/shard/sealed.h"
#include "feed/shard/shard_files.h"

namespace unstarve::feed {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::uint64_t kLookBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kLeftFree = std::uint64_t{1} << 30;

template <class T>
std::atomic_ref<T> atomically(T& value) {
  return std::atomic_ref<T>(value);
}

std::uint64_t entry_offset(std::uint64_t index) { return index * sizeof(StoreEntry); }

std::uint64_t size_of(std::span<const std::span<const std::byte>> parts) {
  std::uint64_t size = 0;
  for (const std::span<const std::byte> part : parts) size += part.size();
  return size;
}

std::uint64_t checksum_of_all(std::span<const std::span<const std::byte>> parts) {
  ChecksumStream checksum;
  for (const std::span<const std::byte> part : parts) checksum.add(part);
  return checksum.value();
}

SampleRecord make_record(std::size_t size) {
  const std::size_t whole = (size / kAlignment + 1) * kAlignment;
  SampleRecord record;
  record.bytes.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, whole)));
  record.size = record.bytes == nullptr ? 0 : size;
  return record;
}

}  // namespace

Result<std::unique_ptr<SampleStore>> SampleStore::open(std::shared_ptr<io::Files> files,
                                                       const Options& options) {
  if (Status made = make_own_folder(*files, options.folder); !made) return forward_error(made);
  std::unique_ptr<SampleStore> store(new SampleStore(std::move(files), options));
  if (Status opened = store->open_files(); !opened) {
    return error_in(options.folder, opened.error());
  }
  return store;
}

Status SampleStore::open_files() {
  Result<FileDescriptor> shared_file = open_to_write(*files_, path("shared"));
  if (!shared_file) return forward_error(shared_file);
  const Result<std::uint64_t> size = io::size_of(*files_, shared_file->get());
  if (!size) return forward_error(size);
  if (*size < sizeof(StoreShared)) {
    Status made = files_->truncate(shared_file->get(), sizeof(StoreShared));
    if (!made) return made;
  }
  auto mapped = files_->map(shared_file->get(), sizeof(StoreShared), io::MapAccess::kReadAndWrite);
  if (!mapped) return forward_error(mapped);
  shared_ = std::move(*mapped);
  if (atomically(shared().samples).load(std::memory_order_acquire) == 0) begin_shared();
  if (shared().magic != kStoreMagic || shared().version != kStoreVersion) {
    return fail(ErrorCode::kNotSupported, "no store that this program reads: name another folder");
  }
  if (shared().samples != options_.samples) {
    return fail(ErrorCode::kInvalidArgument, "it is the store of {} samples, the data set has {}",
                shared().samples, options_.samples);
  }
  Result<FileDescriptor> entries = open_to_write(*files_, path("entries"));
  if (!entries) return forward_error(entries);
  entries_ = std::move(*entries);
  const std::uint64_t wanted = entry_offset(options_.samples);
  const Result<std::uint64_t> has = io::size_of(*files_, entries_.get());
  if (!has) return forward_error(has);
  return *has == wanted ? Status() : files_->truncate(entries_.get(), wanted);
}

/// Two who begin at once write the same, and neither touches what is counted.
void SampleStore::begin_shared() {
  shared().magic = kStoreMagic;
  shared().version = kStoreVersion;
  shared().max_bytes = options_.max_bytes;
  atomically(shared().samples).store(options_.samples, std::memory_order_release);
}

StoreShared& SampleStore::shared() const {
  return *reinterpret_cast<StoreShared*>(shared_.writable_bytes().data());
}

Result<int> SampleStore::records(std::uint64_t file) {
  const auto known = to_read_.find(file);
  if (known != to_read_.end()) return known->second.get();
  auto opened = open_to_read(*files_, path(fmt::format("records-{:05}", file).c_str()));
  if (!opened) return forward_error(opened);
  return to_read_.emplace(file, std::move(*opened)).first->second.get();
}

std::optional<SampleRecord> SampleStore::read(std::uint64_t index, std::uint64_t state) {
  if (index >= options_.samples || is_revoked()) return std::nullopt;
  StoreEntry entry;
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(&entry, 1));
  if (!io::read_exactly(*files_, entries_.get(), entry_offset(index), bytes)) return std::nullopt;
  entry.checksum ^= index;
  if (!is_sealed(entry) || entry.size == 0 || entry.state != state) return std::nullopt;
  const Result<int> file = records(entry.file);
  if (!file || entry.size > shared().max_bytes) return std::nullopt;
  SampleRecord record = make_record(entry.size);
  if (record.bytes == nullptr) return std::nullopt;
  const std::span<std::byte> target(record.bytes.get(), record.size);
  if (!io::read_exactly(*files_, *file, entry.offset, target)) return std::nullopt;
  if (checksum_of(target) != entry.record_checksum) return std::nullopt;
  return record;
}

void SampleStore::count_served() {
  atomically(shared().served).fetch_add(1, std::memory_order_relaxed);
}

Status SampleStore::begin_file() {
  owner_ = ::getpid();
  end_ = 0;
  file_ = atomically(shared().files).fetch_add(1, std::memory_order_relaxed);
  auto made = files_->open(path(fmt::format("records-{:05}", file_).c_str()),
                           O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (!made) return fail_again(made.error(), "cannot make a file of samples in " + options_.folder);
  to_write_ = std::move(*made);
  unlooked_ = kLookBytes;
  return {};
}

bool SampleStore::takes_room(std::uint64_t size) {
  if (unlooked_ >= kLookBytes) {
    unlooked_ = 0;
    const Result<io::DiskSpace> space = files_->space(to_write_.get());
    if (space && space->free < kLeftFree + kLookBytes) return false;
  }
  unlooked_ += size;
  auto bytes = atomically(shared().bytes);
  if (bytes.fetch_add(size, std::memory_order_relaxed) + size <= shared().max_bytes) return true;
  bytes.fetch_sub(size, std::memory_order_relaxed);
  return false;
}

Result<bool> SampleStore::write(std::uint64_t index, std::uint64_t state,
                                std::span<const std::span<const std::byte>> parts) {
  if (index >= options_.samples) {
    return fail(ErrorCode::kInvalidArgument, "no sample {}: there are {}", index, options_.samples);
  }
  if (is_revoked()) return false;
  if (!to_write_ || owner_ != ::getpid()) {
    if (Status begun = begin_file(); !begun) return forward_error(begun);
  }
  const std::uint64_t size = size_of(parts);
  if (size == 0 || !takes_room(size)) return false;
  std::uint64_t end = end_;
  for (const std::span<const std::byte> part : parts) {
    if (Status written = io::write_all_at(*files_, to_write_.get(), end, part); !written) {
      atomically(shared().bytes).fetch_sub(size, std::memory_order_relaxed);
      return error_in(options_.folder, written.error());
    }
    end += part.size();
  }
  StoreEntry entry;
  entry.state = state;
  entry.offset = std::exchange(end_, end);
  entry.size = size;
  entry.record_checksum = checksum_of_all(parts);
  entry.file = file_;
  seal(entry);
  entry.checksum ^= index;
  const Status written =
      io::write_all_at(*files_, entries_.get(), entry_offset(index), bytes_of(entry));
  if (!written) return error_in(options_.folder, written.error());
  atomically(shared().kept).fetch_add(1, std::memory_order_relaxed);
  return true;
}

void SampleStore::revoke() { atomically(shared().revoked).store(1, std::memory_order_release); }

bool SampleStore::is_revoked() const {
  return atomically(shared().revoked).load(std::memory_order_acquire) != 0;
}

SampleStore::Counts SampleStore::counts() const {
  Counts counts;
  counts.kept = atomically(shared().kept).load(std::memory_order_relaxed);
  counts.served = atomically(shared().served).load(std::memory_order_relaxed);
  counts.bytes = atomically(shared().bytes).load(std::memory_order_relaxed);
  return counts;
}

}  // namespace unstarve::feed
