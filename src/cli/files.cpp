#include "cli/files.h"

#include <unistd.h>

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

}  // namespace unstarve::cli
