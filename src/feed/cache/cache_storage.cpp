#include "feed/cache/cache_storage.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>

namespace unstarve::feed {

Status CacheStorage::make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return fail_errno(error.value(), fmt::format("cannot make the folder {}", path));
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return fail_errno(errno, "cannot stat " + path);
  if (status.st_uid == ::geteuid()) return {};
  return fail(ErrorCode::kNoPermission, "{} belongs to another user: name another cache folder",
              path);
}

Result<bool> CacheStorage::try_lock(int file) {
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) return true;
  if (errno == EWOULDBLOCK) return false;
  return fail_errno(errno, "cannot lock a file");
}

Result<DiskSpace> CacheStorage::space(int file) {
  struct statvfs status = {};
  if (::fstatvfs(file, &status) != 0) return fail_errno(errno, "cannot see how full the disk is");
  return DiskSpace{std::uint64_t{status.f_bavail} * status.f_frsize,
                   std::uint64_t{status.f_blocks} * status.f_frsize};
}

void CacheStorage::reserve(int file, std::uint64_t offset, std::uint64_t size) {
  (void)::fallocate(file, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                    static_cast<off_t>(size));  // a wish, not a need
}

std::int64_t CacheStorage::now_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace unstarve::feed
