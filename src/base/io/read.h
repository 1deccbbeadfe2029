#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/io/files.h"

namespace unstarve::io {

struct OpenFile {
  FileDescriptor file;
  FileState state;
};

/// Opens what must be a regular file; `flags` as open(2) takes them. Opening a pipe that somebody
/// left in its place is an error and does not wait for the pipe's other end.
Result<OpenFile> open_regular(Files& files, const std::string& path, int flags);

/// Bytes of an open file.
Result<std::uint64_t> size_of(Files& files, int file);

/// Fills `target` from `offset` on, as far as the file goes. How many bytes that were.
Result<std::size_t> read_available(Files& files, int file, std::uint64_t offset,
                                   std::span<std::byte> target);

/// Fills `target` from `offset` on. kCorruptData where the file ends before that.
Status read_exactly(Files& files, int file, std::uint64_t offset, std::span<std::byte> target);

/// A whole file of text. Files of /proc do not tell their size, so what is longer than `bytes_max`
/// is an error, not a cut.
Result<std::string> read_text(Files& files, const std::string& path, std::size_t bytes_max);

}  // namespace unstarve::io
