#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_handle.h"
#include "roofline/roofs/session.h"

namespace unstarve::roofline {

/// A file full of noise, made to be read, that no folder shows: whatever ends this process, its
/// room on the disk is free again.
struct ScratchFile {
  FileDescriptor file;      // reads go through the page cache
  FileDescriptor direct;    // O_DIRECT; invalid where the file system has none
  std::uint64_t bytes = 0;  // a multiple of kScratchBlockBytes
  double written_bytes_per_s = 0;
  std::string file_system;  // "ext4"
};
inline constexpr std::uint64_t kScratchBlockBytes = 4ULL << 20;

struct ScratchOptions {
  std::string folder;
  std::uint64_t most_bytes = 1ULL << 30;
  std::int64_t duration_ns = 0;  // of writing, which ends then
};

/// How large a scratch file may be where so much is free: at most `most_bytes`, a tenth of what is
/// free, and never so much that less than a twentieth of the disk or 1 GiB stays free. 0: none.
std::uint64_t scratch_bytes(std::uint64_t most_bytes, std::uint64_t free_bytes,
                            std::uint64_t total_bytes);

/// Writes it, and waits until it is on the disk.
/// Errors: the folder cannot be written, too little is free on its disk, or somebody asked to stop.
Result<ScratchFile> make_scratch_file(const ScratchOptions& options, Session& session);

/// Whether files of this kind of file system lie in memory.
bool is_in_memory(const std::string& file_system);

}  // namespace unstarve::roofline
