#include "cli/console/unreadable.h"

#include <fcntl.h>

#include <span>

#include "base/io/read.h"
#include "observe/import/byte_source.h"
#include "report/words/foreign_words.h"
#include "trace/foreign/foreign_file.h"

namespace unstarve::cli {

namespace {

/// Decompressed where gzip compressed it; empty where it cannot be read so.
std::string content_start(const std::string& path) {
  std::string start(trace::kTellingBytes, '\0');
  std::size_t filled = 0;
  const auto source = observe::open_byte_source(path);
  while (source && filled < start.size()) {
    const auto bytes = (*source)->read(std::span(start).subspan(filled));
    if (!bytes || *bytes == 0) break;
    filled += *bytes;
  }
  start.resize(filled);
  return start;
}

/// As it is stored.
std::string file_start(const std::string& path) {
  std::string start(trace::kTellingBytes, '\0');
  io::Files files;
  const auto opened = io::open_regular(files, path, O_RDONLY);
  const auto bytes = opened ? io::read_available(files, opened->file.get(), 0,
                                                 std::as_writable_bytes(std::span(start)))
                            : Result<std::size_t>(0);
  start.resize(bytes ? *bytes : 0);
  return start;
}

}  // namespace

Error explained(Error error, const std::string& path) {
  std::string start = content_start(path);
  if (start.empty()) start = file_start(path);
  const auto kind = trace::recognise(path, start);
  if (!kind) return error;
  return {ErrorCode::kNotSupported, report::foreign_words(*kind, path), 0};
}

}  // namespace unstarve::cli
