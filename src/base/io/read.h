#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/io/files.h"

namespace unstarve::io {

/// Fills `target` from `offset` on, as far as the file goes. How many bytes that were.
Result<std::size_t> read_available(Files& files, int file, std::uint64_t offset,
                                   std::span<std::byte> target);

/// Fills `target` from `offset` on. kCorruptData where the file ends before that.
Status read_exactly(Files& files, int file, std::uint64_t offset, std::span<std::byte> target);

/// A whole file of text. Files of /proc do not tell their size, so what is longer than `bytes_max`
/// is an error, not a cut.
Result<std::string> read_text(Files& files, const std::string& path, std::size_t bytes_max);

}  // namespace unstarve::io
