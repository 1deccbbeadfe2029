#include "cli/files.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>

#include "cli/terminal.h"

namespace unstarve::cli {

Status write_file(const std::string& path, std::string_view text) {
  if (path == "-") {
    write_text(Stream::kOut, text);
    return {};
  }
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  errno = 0;
  {
    std::ofstream file(temporary, std::ios::binary);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    file.flush();
    if (!file) {
      const int os_errno = errno;
      std::remove(temporary.c_str());
      return fail_errno(os_errno, fmt::format("cannot write {}", path));
    }
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int os_errno = errno;
    std::remove(temporary.c_str());
    return fail_errno(os_errno, fmt::format("cannot write {}", path));
  }
  return {};
}

std::string shell_word(std::string_view text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_-./=:,@%+").find(c) != std::string_view::npos;
  });
  if (plain) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace unstarve::cli
