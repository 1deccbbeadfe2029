#include "feed/source/file_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/unique_handle.h"
#include "feed/data/read_hint.h"

namespace unstarve::feed {
namespace {

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

FileStamp stamp_of(const struct stat& status) {
  return {static_cast<std::uint64_t>(status.st_size), nanoseconds(status.st_mtim),
          nanoseconds(status.st_ctim)};
}

}  // namespace

Result<std::size_t> FileReader::read_part(int fd, std::uint64_t offset,
                                          std::span<std::byte> target) {
  std::size_t done = 0;
  while (done < target.size()) {
    const ssize_t got =
        ::pread(fd, target.data() + done, target.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(errno, "cannot read");
    if (got == 0) break;  // the end
    done += static_cast<std::size_t>(got);
  }
  return done;
}

Result<FileStamp> FileReader::stamp(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return fail_errno(errno, "cannot stat");
  return stamp_of(status);
}

Result<FileStamp> FileReader::stamp(int fd) {
  struct stat status = {};
  if (::fstat(fd, &status) != 0) return fail_errno(errno, "cannot stat");
  return stamp_of(status);
}

Result<std::span<const std::byte>> PlainFileReader::read(const std::string& path,
                                                         std::int64_t max_bytes,
                                                         std::vector<std::byte>& buffer) {
  // O_NONBLOCK: opening a pipe that somebody left in the folder must not hang.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return fail_errno(errno, "cannot open");
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) return fail_errno(errno, "cannot stat");
  if (!S_ISREG(status.st_mode)) return fail(ErrorCode::kInvalidArgument, "not a regular file");
  if (status.st_size > max_bytes) {
    return fail(ErrorCode::kInvalidArgument, "the file has {} bytes, the limit is {}",
                status.st_size, max_bytes);
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (buffer.size() < size) {
    buffer.clear();  // so that growing copies nothing
    buffer.resize(size + size / 4);
  }
  const Result<std::size_t> got = read_part(file.get(), 0, std::span(buffer).first(size));
  if (!got) return forward_error(got);
  return std::span<const std::byte>(buffer.data(), *got);
}

ReadHint PlainFileReader::hint(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  // No fstat: advice that goes past the file's end is advice up to there.
  return file ? hint_range(file.get(), 0, kMaxHintedBytes) : ReadHint::kFetching;
}

}  // namespace unstarve::feed
