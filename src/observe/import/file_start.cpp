#include "observe/import/file_start.h"

#include <fcntl.h>

#include <span>

#include "base/io/read.h"

namespace unstarve::observe {

std::string read_file_start(const std::string& path, std::size_t bytes_max) {
  io::Files files;
  const auto opened = io::open_regular(files, path, O_RDONLY);
  if (!opened) return {};
  std::string start(bytes_max, '\0');
  const auto bytes = io::read_available(files, opened->file.get(), 0,
                                        std::as_writable_bytes(std::span<char>(start)));
  start.resize(bytes ? *bytes : 0);
  return start;
}

}  // namespace unstarve::observe
