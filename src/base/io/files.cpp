#include "base/io/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>

namespace unstarve::io {
namespace {

struct DirectoryTraits {
  using Handle = DIR*;
  static Handle invalid() { return nullptr; }
  static void close(Handle directory) noexcept { ::closedir(directory); }
};

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

FileState state_of(const struct stat& status) {
  FileState state;
  state.identity = {status.st_dev, status.st_ino};
  state.size = static_cast<std::uint64_t>(status.st_size);
  state.modified_ns = nanoseconds(status.st_mtim);
  state.changed_ns = nanoseconds(status.st_ctim);
  state.owner = status.st_uid;
  state.is_regular = S_ISREG(status.st_mode);
  state.is_folder = S_ISDIR(status.st_mode);
  return state;
}

Result<std::size_t> moved(ssize_t count, const char* failure) {
  if (count < 0) return fail_errno(errno, failure);
  return static_cast<std::size_t>(count);
}

Status done(int result, const char* failure) {
  if (result != 0) return fail_errno(errno, failure);
  return {};
}

}  // namespace

Result<FileDescriptor> Files::open(const std::string& path, int flags, unsigned mode) {
  FileDescriptor file(::open(path.c_str(), flags | O_CLOEXEC, static_cast<mode_t>(mode)));
  if (!file) return fail_errno(errno, "cannot open");
  return file;
}

Status Files::close(FileDescriptor file) { return done(::close(file.release()), "cannot close"); }

Result<FileState> Files::state(int file) {
  struct stat status = {};
  if (::fstat(file, &status) != 0) return fail_errno(errno, "cannot stat");
  return state_of(status);
}

Result<FileState> Files::state_at(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return fail_errno(errno, "cannot stat");
  return state_of(status);
}

Result<std::size_t> Files::read_at(int file, std::uint64_t offset, std::span<std::byte> target) {
  return moved(::pread(file, target.data(), target.size(), static_cast<off_t>(offset)),
               "cannot read");
}

Result<std::size_t> Files::write_at(int file, std::uint64_t offset,
                                    std::span<const std::byte> bytes) {
  return moved(::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset)),
               "cannot write");
}

Result<std::size_t> Files::write(int file, std::span<const std::byte> bytes) {
  return moved(::write(file, bytes.data(), bytes.size()), "cannot write");
}

Status Files::truncate(int file, std::uint64_t size) {
  return done(::ftruncate(file, static_cast<off_t>(size)), "cannot cut the file");
}

Status Files::sync(int file) { return done(::fsync(file), "cannot bring the file to the disk"); }

Result<Mapping> Files::map(int file, std::size_t size, MapAccess access) {
  return Mapping::of(file, size, access);
}

Status Files::rename(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) == 0) return {};
  return fail_errno(errno, fmt::format("cannot rename {} to {}", from, to));
}

Status Files::remove(const std::string& path) {
  return done(::unlink(path.c_str()), "cannot remove");
}

bool Files::exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

Result<std::string> Files::link_target(const std::string& path) {
  std::array<char, 4096> target = {};  // the kernel's longest path
  const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
  if (size < 0) return fail_errno(errno, "cannot read a link");
  return std::string(target.data(), static_cast<std::size_t>(size));
}

Status Files::list(const std::string& path, const std::function<void(std::string_view)>& visit) {
  const UniqueHandle<DirectoryTraits> directory(::opendir(path.c_str()));
  if (!directory) return fail_errno(errno, "cannot list");
  errno = 0;
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string_view name(entry->d_name);
    if (name != "." && name != "..") visit(name);
    errno = 0;
  }
  return errno == 0 ? Status() : fail_errno(errno, "cannot list");
}

Result<bool> Files::try_lock(int file) {
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) return true;
  if (errno == EWOULDBLOCK) return false;
  return fail_errno(errno, "cannot lock a file");
}

Result<DiskSpace> Files::space(int file) {
  struct statvfs status = {};
  if (::fstatvfs(file, &status) != 0) return fail_errno(errno, "cannot see how full the disk is");
  return DiskSpace{std::uint64_t{status.f_bavail} * status.f_frsize,
                   std::uint64_t{status.f_blocks} * status.f_frsize};
}

void Files::reserve(int file, std::uint64_t offset, std::uint64_t size) {
  (void)::fallocate(file, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                    static_cast<off_t>(size));
}

void Files::drop_cached(int file) { (void)::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED); }

bool Files::fetch_ahead(int file, std::uint64_t offset, std::uint64_t size) {
  const auto from = static_cast<off_t>(offset);
  char first = 0;
  const iovec target = {&first, 1};
  // Fails where the byte would have to be waited for, and where the file system cannot tell. glibc
  // has a function for this from 2.26 on; wheels are for 2.17. The position's upper half is 0.
  if (::syscall(SYS_preadv2, file, &target, 1, from, 0, RWF_NOWAIT) >= 0) return true;
  (void)::posix_fadvise(file, from, static_cast<off_t>(size), POSIX_FADV_WILLNEED);
  return false;
}

std::int64_t Files::now_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

std::shared_ptr<Files> plain_files() { return std::make_shared<Files>(); }

}  // namespace unstarve::io
