#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/io/files.h"

namespace unstarve::io {

/// Writes all of `bytes` at `offset`, or says why not; a part may have been written then.
Status write_all_at(Files& files, int file, std::uint64_t offset, std::span<const std::byte> bytes);

/// Writes all of `bytes` where the file stands: into pipes and terminals too.
Status write_all(Files& files, int file, std::span<const std::byte> bytes);
Status write_all(int file, std::string_view text);

/// Puts a file of these bytes in the place of what `path` leads to, or makes it: whoever opens it
/// finds all of the old or all of the new, and of a failure nothing is left. A file through a link
/// is replaced behind the link. `mode`: who may do what with it, less what the umask takes.
///
/// The bytes go into a file `.unstarve-PID-N.tmp` beside it first. Where a file is replaced they
/// are on the disk before it goes, so that a power cut leaves the old or the new one; where none
/// was, it is not waited for.
Status replace_file(Files& files, const std::string& path, std::span<const std::byte> bytes,
                    unsigned mode = 0666);
Status replace_file(const std::string& path, std::string_view text);

/// Returns when the names in a folder are on the disk, where the file system can do that.
Status sync_folder(Files& files, const std::string& path);

/// Whether replace_file() can be expected to succeed. Leaves nothing behind.
Status check_replaceable(Files& files, const std::string& path);
Status check_replaceable(const std::string& path);

}  // namespace unstarve::io
