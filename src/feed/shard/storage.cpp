#include "feed/shard/storage.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

namespace unstarve::feed {
namespace {

constexpr mode_t kFileMode = 0644;
// Linux moves at most 2 GiB in one call; a round number below that.
constexpr std::size_t kBytesPerCall = std::size_t{1} << 30;
// What is written comes in pieces that end at multiples of this. For longer ones the page cache
// takes memory in larger units, which a virtual machine that gives free memory back to its host has
// to fetch first: three times the CPU time (115 us for 130 KB in place of 38).
constexpr std::size_t kBytesPerWrite = std::size_t{64} << 10;

Status check_regular(int file) {
  struct stat status = {};
  if (::fstat(file, &status) != 0) return fail_errno(errno, "cannot stat");
  if (!S_ISREG(status.st_mode)) return fail(ErrorCode::kInvalidArgument, "not a regular file");
  return {};
}

Result<FileDescriptor> open_file(const std::string& path, int flags) {
  // O_NONBLOCK: opening a pipe that somebody left in the folder must not hang.
  FileDescriptor file(::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK, kFileMode));
  if (!file) return fail_errno(errno, "cannot open " + path);
  if (Status status = check_regular(file.get()); !status) return error_in(path, status.error());
  return file;
}

}  // namespace

tl::unexpected<Error> error_in(const std::string& name, Error error) {
  error.message = fmt::format("{}: {}", name, error.message);
  return tl::unexpected<Error>(std::move(error));
}

Result<FileDescriptor> Storage::open_to_read(const std::string& path) {
  return open_file(path, O_RDONLY);
}

Result<FileDescriptor> Storage::open_to_write(const std::string& path) {
  return open_file(path, O_RDWR | O_CREAT);
}

Result<std::uint64_t> Storage::size(int file) {
  struct stat status = {};
  if (::fstat(file, &status) != 0) return fail_errno(errno, "cannot stat");
  return static_cast<std::uint64_t>(status.st_size);
}

void Storage::drop_cached(int file) {
  (void)::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);  // a wish, not a need
}

Status Storage::read(int file, std::uint64_t offset, std::span<std::byte> target) {
  while (!target.empty()) {
    const ssize_t got = ::pread(file, target.data(), std::min(target.size(), kBytesPerCall),
                                static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(errno, "cannot read");
    if (got == 0) {
      return fail(ErrorCode::kCorruptData, "the file ends at byte {}, where more must follow",
                  offset);
    }
    target = target.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return {};
}

Status Storage::write(int file, std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t piece = std::min(bytes.size(), kBytesPerWrite - offset % kBytesPerWrite);
    const ssize_t put = ::pwrite(file, bytes.data(), piece, static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return fail_errno(errno, "cannot write");
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
  return {};
}

Status Storage::truncate(int file, std::uint64_t size) {
  if (::ftruncate(file, static_cast<off_t>(size)) == 0) return {};
  return fail_errno(errno, "cannot cut the file");
}

Status Storage::sync(int file) {
  if (::fsync(file) == 0) return {};
  return fail_errno(errno, "cannot bring the file to the disk");
}

Status Storage::sync_folder(const std::string& path) {
  const FileDescriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return fail_errno(errno, "cannot open " + path);
  // Some network file systems cannot do this for folders, and need not.
  if (::fsync(folder.get()) == 0 || errno == EINVAL || errno == ENOTSUP) return {};
  return fail_errno(errno, "cannot bring to the disk " + path);
}

Status Storage::rename(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) == 0) return {};
  return fail_errno(errno, fmt::format("cannot rename {} to {}", from, to));
}

std::shared_ptr<Storage> plain_storage() { return std::make_shared<Storage>(); }

}  // namespace unstarve::feed
