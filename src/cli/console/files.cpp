#include "cli/console/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/io/write.h"
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

Status write_in_place(const std::string& path, std::string_view text) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_APPEND));
  if (!file) return fail_write(errno, path);
  if (const Status written = io::write_all(file.get(), text); !written) {
    return fail_write(written.error().os_errno, path);
  }
  return ::close(file.release()) == 0 ? Status() : fail_write(errno, path);
}

}  // namespace

Status check_writable(const std::string& path) {
  if (path.empty() || path == "-") return {};
  if (!is_written_in_place(path)) return io::check_replaceable(path);
  return ::access(path.c_str(), W_OK) == 0 ? Status() : fail_write(errno, path);
}

Status write_file(const std::string& path, std::string_view text) {
  if (is_written_in_place(path)) return write_in_place(path, text);
  if (path != "-") return io::replace_file(path, text);
  // A reader that went away is not an error of ours.
  const Status written = io::write_all(STDOUT_FILENO, text);
  if (written || written.error().os_errno == EPIPE) return {};
  return fail_write(written.error().os_errno, "to standard output");
}

}  // namespace unstarve::cli
