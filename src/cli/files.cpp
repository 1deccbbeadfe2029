#include "cli/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "base/unique_handle.h"

namespace unstarve::cli {

namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> fail_write(int os_errno, const std::string& path) {
  return fail_errno(os_errno, fmt::format("cannot write {}", path));
}

/// What is opened as it is: another file in its place would not be the pipe or the device that was
/// meant. Of /dev/stdout that holds even where it is a file.
bool is_written_in_place(const std::string& path) {
  for (const std::string_view ours : {"/dev/std", "/dev/fd/", "/proc/"}) {
    if (std::string_view(path).substr(0, ours.size()) == ours) return true;
  }
  std::error_code unknown;
  const fs::file_status status = fs::status(path, unknown);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

/// Where the file itself lies, behind links.
fs::path behind_links(const std::string& path) {
  std::error_code unknown;
  fs::path whole = fs::weakly_canonical(path, unknown);
  return unknown || whole.empty() ? fs::path(path) : whole;
}

/// Short, so that it can be made wherever `file` can.
std::string temporary_beside(const fs::path& file) {
  return (file.parent_path() / fmt::format(".unstarve-{}.tmp", ::getpid())).string();
}

/// 0, or errno.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// 0, or errno.
int write_whole(const std::string& path, int flags, std::string_view text) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666));
  if (!file) return errno;
  if (const int failed = write_all(file.get(), text); failed != 0) return failed;
  return ::close(file.release()) == 0 ? 0 : errno;
}

}  // namespace

Status check_writable(const std::string& path) {
  if (path.empty() || path == "-") return {};
  if (is_written_in_place(path)) {
    return ::access(path.c_str(), W_OK) == 0 ? Status() : fail_write(errno, path);
  }
  const fs::path file = behind_links(path);
  std::error_code unknown;
  if (fs::is_directory(file, unknown)) return fail_write(EISDIR, path);
  const std::string temporary = temporary_beside(file);
  const int failed = write_whole(temporary, O_CREAT | O_TRUNC, "");
  std::remove(temporary.c_str());
  if (failed != 0) return fail_write(failed, path);
  return {};
}

Status write_file(const std::string& path, std::string_view text) {
  if (path == "-") {
    // A reader that went away is not an error of ours.
    const int failed = write_all(STDOUT_FILENO, text);
    return failed == 0 || failed == EPIPE ? Status() : fail_write(failed, "to standard output");
  }
  if (is_written_in_place(path)) {
    const int failed = write_whole(path, O_APPEND, text);
    return failed == 0 ? Status() : fail_write(failed, path);
  }
  const fs::path file = behind_links(path);
  const std::string temporary = temporary_beside(file);
  int failed = write_whole(temporary, O_CREAT | O_TRUNC, text);
  if (failed == 0 && std::rename(temporary.c_str(), file.c_str()) != 0) failed = errno;
  if (failed == 0) return {};
  std::remove(temporary.c_str());
  return fail_write(failed, path);
}

}  // namespace unstarve::cli
