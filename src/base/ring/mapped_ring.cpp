#include "base/ring/mapped_ring.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <vector>

#include "base/check.h"
#include "base/io/read.h"
#include "base/unique_handle.h"

namespace unstarve {

namespace {

constexpr std::size_t kHeaderBytes = 4096;
constexpr std::size_t kTextBytes = 4032;
constexpr std::uint32_t kVersion = 1;
constexpr char kMagic[8] = {'U', 'N', 'S', 'T', 'R', 'I', 'N', 'G'};
// Bounds that a reader accepts, so that a damaged header cannot make it ask for absurd memory.
constexpr std::uint32_t kRecordBytesMax = 4096;
constexpr std::uint64_t kCapacityMax = 1ULL << 24;
// Records copied per pread; bounds the reader's memory.
constexpr std::uint64_t kDrainRecords = 4096;

struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t kind;
  std::uint32_t record_size;
  std::uint32_t reserved0;
  std::uint64_t capacity;
  std::uint64_t write_count;
  std::uint64_t writer_pid;
  std::int64_t created_ns;
  std::uint32_t text_size;
  std::uint32_t is_locked;
  char text[kTextBytes];
};
static_assert(sizeof(Header) == kHeaderBytes);
static_assert(std::endian::native == std::endian::little, "rings are little-endian");

/// Reads exactly `bytes.size()` bytes at `offset`, or says why not.
Status read_ring(int fd, std::span<std::byte> bytes, std::uint64_t offset,
                 const std::string& path) {
  io::Files files;
  const Result<std::size_t> got = io::read_available(files, fd, offset, bytes);
  if (!got) return fail_again(got.error(), fmt::format("cannot read ring {}", path));
  if (*got == bytes.size()) return {};
  return fail(ErrorCode::kCorruptData, "ring {} ends at byte {}; {} more were expected", path,
              offset + *got, bytes.size() - *got);
}

Result<Header> read_header(int fd, const std::string& path) {
  Header header{};
  if (Status read = read_ring(fd, std::as_writable_bytes(std::span(&header, 1)), 0, path); !read) {
    return forward_error(read);
  }
  return header;
}

Status check_header(const Header& header, const std::string& path) {
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0) {
    return fail(ErrorCode::kCorruptData, "{} is not a ring: bytes 0..7 are not UNSTRING", path);
  }
  if (header.version != kVersion) {
    return fail(ErrorCode::kNotSupported, "ring {} has version {}; this unstarve reads version {}",
                path, header.version, kVersion);
  }
  const bool known_kind = header.kind == static_cast<std::uint32_t>(RingKind::kHookEvents) ||
                          header.kind == static_cast<std::uint32_t>(RingKind::kDeviceActivity);
  if (!known_kind || header.record_size == 0 || header.record_size > kRecordBytesMax ||
      header.capacity == 0 || header.capacity > kCapacityMax ||
      !std::has_single_bit(header.capacity)) {
    return fail(ErrorCode::kCorruptData,
                "ring {} has a damaged header (kind {}, record size {}, capacity {})", path,
                header.kind, header.record_size, header.capacity);
  }
  return {};
}

/// Whether others find a file locked that is mapped, and whose descriptor is closed: not every
/// file system keeps the lock then.
bool stays_locked(const std::string& path) {
  io::Files files;
  const Result<FileDescriptor> other = files.open(path, O_RDWR);
  if (!other) return false;
  const Result<bool> got = files.try_lock(other->get());
  return got && !*got;
}

}  // namespace

struct RingWriter::Impl {
  io::Mapping mapping;
  Header* header = nullptr;  // within the mapping, as the records
  std::byte* records = nullptr;
  std::uint64_t written = 0;
};

RingWriter::RingWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RingWriter::RingWriter(RingWriter&&) noexcept = default;
RingWriter& RingWriter::operator=(RingWriter&&) noexcept = default;
RingWriter::~RingWriter() = default;

Result<RingWriter> RingWriter::create(const std::string& path, const RingOptions& options) {
  UNSTARVE_CHECK(std::has_single_bit(options.capacity) && options.capacity <= kCapacityMax &&
                     options.record_size > 0 && options.record_size <= kRecordBytesMax,
                 "ring options are ours and must be in bounds");
  io::Files files;
  Result<FileDescriptor> file = files.open(path, O_RDWR | O_CREAT | O_TRUNC);
  if (!file) return fail_again(file.error(), fmt::format("cannot create ring {}", path));
  const std::size_t bytes = kHeaderBytes + options.capacity * options.record_size;
  // posix_fallocate, not ftruncate: on a full disk a store into a sparse map would be a SIGBUS in
  // the middle of somebody's training.
  if (const int failed = ::posix_fallocate(file->get(), 0, static_cast<off_t>(bytes));
      failed != 0) {
    (void)files.remove(path);
    return fail_errno(failed, fmt::format("cannot reserve {} bytes for ring {}", bytes, path));
  }
  Result<io::Mapping> mapping = files.map(file->get(), bytes, io::MapAccess::kReadAndWrite);
  if (!mapping) return fail_again(mapping.error(), fmt::format("cannot map ring {}", path));
  // The mapping holds the lock, and with it goes however the process ends.
  const bool locked = ::flock(file->get(), LOCK_SH | LOCK_NB) == 0;
  *file = FileDescriptor();

  auto impl = std::make_unique<Impl>();
  impl->mapping = std::move(*mapping);
  std::byte* start = impl->mapping.writable_bytes().data();
  impl->header = reinterpret_cast<Header*>(start);
  impl->records = start + kHeaderBytes;
  Header& header = *impl->header;
  header.version = kVersion;
  header.kind = static_cast<std::uint32_t>(options.kind);
  header.record_size = options.record_size;
  header.capacity = options.capacity;
  header.writer_pid = static_cast<std::uint64_t>(::getpid());
  header.created_ns = options.created_ns;
  header.is_locked = locked && stays_locked(path) ? 1 : 0;
  // The magic comes last: a reader that finds it finds a whole header.
  std::atomic_thread_fence(std::memory_order_release);
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  return RingWriter(std::move(impl));
}

void RingWriter::append(std::span<const std::byte> record) {
  Header& header = *impl_->header;
  UNSTARVE_CHECK(record.size() == header.record_size, "a ring's records have one size");
  const std::uint64_t slot = impl_->written & (header.capacity - 1);
  std::memcpy(impl_->records + slot * header.record_size, record.data(), record.size());
  ++impl_->written;
  std::atomic_ref<std::uint64_t>(header.write_count)
      .store(impl_->written, std::memory_order_release);
}

Status RingWriter::set_text(std::string_view json) {
  if (json.size() > kTextBytes) {
    return fail(ErrorCode::kInvalidArgument, "a ring's text holds {} bytes, not {}", kTextBytes,
                json.size());
  }
  Header& header = *impl_->header;
  std::atomic_ref<std::uint32_t> size(header.text_size);
  size.store(0, std::memory_order_release);
  std::memcpy(header.text, json.data(), json.size());
  size.store(static_cast<std::uint32_t>(json.size()), std::memory_order_release);
  return {};
}

struct RingReader::Impl {
  FileDescriptor fd;
  std::string path;
  io::FileIdentity identity;
  Header header{};
  std::uint64_t seen = 0;
  std::uint64_t lost = 0;
  std::vector<std::byte> buffer;

  /// Copies records [from, from + count) into `buffer`; they lie in at most two pieces.
  Status copy_records(std::uint64_t from, std::uint64_t count) {
    buffer.resize(count * header.record_size);
    const std::uint64_t slot = from & (header.capacity - 1);
    const std::uint64_t first_count = std::min(count, header.capacity - slot);
    const auto bytes = std::span(buffer);
    Status first = read_ring(fd.get(), bytes.first(first_count * header.record_size),
                             kHeaderBytes + slot * header.record_size, path);
    if (!first || first_count == count) return first;
    return read_ring(fd.get(), bytes.subspan(first_count * header.record_size), kHeaderBytes, path);
  }
};

RingReader::RingReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RingReader::RingReader(RingReader&&) noexcept = default;
RingReader& RingReader::operator=(RingReader&&) noexcept = default;
RingReader::~RingReader() = default;

Result<RingReader> RingReader::open(const std::string& path) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  io::Files files;
  Result<FileDescriptor> file = files.open(path, O_RDONLY);
  if (!file) return fail_again(file.error(), fmt::format("cannot open ring {}", path));
  impl->fd = std::move(*file);
  if (const auto state = files.state(impl->fd.get()); state) impl->identity = state->identity;
  const Result<Header> header = read_header(impl->fd.get(), path);
  if (!header) return forward_error(header);
  if (const Status ok = check_header(*header, path); !ok) return forward_error(ok);
  impl->header = *header;
  return RingReader(std::move(impl));
}

RingKind RingReader::kind() const { return static_cast<RingKind>(impl_->header.kind); }
std::uint32_t RingReader::record_size() const { return impl_->header.record_size; }
std::uint64_t RingReader::writer_pid() const { return impl_->header.writer_pid; }
std::int64_t RingReader::created_ns() const { return impl_->header.created_ns; }
std::string RingReader::path() const { return impl_->path; }
io::FileIdentity RingReader::identity() const { return impl_->identity; }
std::uint64_t RingReader::position() const { return impl_->seen; }
bool RingReader::writer_is_gone() const {
  if (impl_->header.is_locked != 1) return false;
  return io::Files().try_lock(impl_->fd.get()).value_or(false);
}
void RingReader::skip_to(std::uint64_t position) { impl_->seen = position; }
std::uint64_t RingReader::lost() const { return impl_->lost; }

Result<std::uint64_t> RingReader::drain(
    const std::function<void(std::span<const std::byte>)>& each) {
  const std::uint64_t capacity = impl_->header.capacity;
  std::uint64_t handed_out = 0;
  Result<Header> now = read_header(impl_->fd.get(), impl_->path);
  if (!now) return forward_error(now);
  const std::uint64_t end = now->write_count;
  if (end < impl_->seen) {
    return fail(ErrorCode::kCorruptData, "ring {} went back from record {} to {}", impl_->path,
                impl_->seen, end);
  }
  while (impl_->seen < end) {
    // The oldest record that is still whole: its slot is not the one being written right now.
    const std::uint64_t oldest = end >= capacity ? end - capacity + 1 : 0;
    if (impl_->seen < oldest) {
      impl_->lost += oldest - impl_->seen;
      impl_->seen = oldest;
    }
    const std::uint64_t count = std::min(kDrainRecords, end - impl_->seen);
    if (Status copied = impl_->copy_records(impl_->seen, count); !copied) {
      return forward_error(copied);
    }
    now = read_header(impl_->fd.get(), impl_->path);
    if (!now) return forward_error(now);
    // Records overwritten while they were copied are dropped and counted.
    const std::uint64_t whole_from =
        now->write_count >= capacity ? now->write_count - capacity + 1 : 0;
    const std::uint64_t torn =
        whole_from > impl_->seen ? std::min(count, whole_from - impl_->seen) : 0;
    impl_->lost += torn;
    for (std::uint64_t i = torn; i < count; ++i) {
      each(std::span(impl_->buffer)
               .subspan(i * impl_->header.record_size, impl_->header.record_size));
    }
    handed_out += count - torn;
    impl_->seen += count;
  }
  return handed_out;
}

Result<std::string> RingReader::text() const {
  const Result<Header> now = read_header(impl_->fd.get(), impl_->path);
  if (!now) return forward_error(now);
  const std::size_t size = std::min<std::size_t>(now->text_size, kTextBytes);
  return std::string(now->text, size);
}

}  // namespace unstarve
