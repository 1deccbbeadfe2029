#include "host/host_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>

#include "base/unique_handle.h"

namespace unstarve::host {

namespace {

struct DirectoryTraits {
  using Handle = DIR*;
  static Handle invalid() { return nullptr; }
  static void close(Handle directory) noexcept { ::closedir(directory); }
};

}  // namespace

HostFiles::HostFiles(std::string root) : root_(std::move(root)) {
  while (!root_.empty() && root_.back() == '/') root_.pop_back();
}

Result<std::string> HostFiles::read(const std::string& path, std::size_t bytes_max) const {
  const std::string full = root_ + path;
  const FileDescriptor file(::open(full.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return fail_errno(errno, "cannot open " + full);
  std::string text;
  std::array<char, 4096> piece;
  while (true) {
    const ssize_t got = ::read(file.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(errno, "cannot read " + full);
    if (got == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
    if (text.size() > bytes_max) {
      return fail(ErrorCode::kCorruptData, "{} is longer than {} bytes", full, bytes_max);
    }
  }
}

Result<std::vector<std::int64_t>> HostFiles::list_numbers(const std::string& path) const {
  const std::string full = root_ + path;
  const UniqueHandle<DirectoryTraits> directory(::opendir(full.c_str()));
  if (!directory) return fail_errno(errno, "cannot list " + full);
  std::vector<std::int64_t> numbers;
  errno = 0;
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string_view name(entry->d_name);
    std::int64_t number = 0;
    const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (failed == std::errc() && end == name.data() + name.size()) numbers.push_back(number);
    errno = 0;
  }
  if (errno != 0) return fail_errno(errno, "cannot list " + full);
  return numbers;
}

bool HostFiles::exists(const std::string& path) const {
  return ::access((root_ + path).c_str(), F_OK) == 0;
}

}  // namespace unstarve::host
