#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/io/files.h"
#include "base/result.h"

namespace unstarve::feed {

/// A file in a zip, as the archive's directory has it.
struct ZipEntry {
  std::string name;                // as it is written, with slashes
  std::uint64_t header_at = 0;     // its local header's offset in the archive
  std::uint64_t stored_bytes = 0;  // as they lie there
  std::uint64_t bytes = 0;         // of the file
  std::uint32_t crc = 0;
  std::uint16_t method = 0;  // kStored or kDeflated; others are for a reader to refuse
  bool is_encrypted = false;

  static constexpr std::uint16_t kStored = 0;
  static constexpr std::uint16_t kDeflated = 8;
  static constexpr std::size_t kLocalHeader = 30;  // bytes, before its name and extra field
};

/// Where the directory lies.
struct ZipEnd {
  std::uint64_t entries = 0;
  std::uint64_t directory_at = 0;
  std::uint64_t directory_bytes = 0;
};

/// All files of an archive, in the order of its directory; folders are left out. Zip64 is known;
/// archives in several parts are refused, and so are directories of more than 1 GiB.
/// Source: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, 4.3
Result<std::vector<ZipEntry>> read_zip_directory(io::Files& files, int file, std::uint64_t size);

/// The same, of the directory's bytes alone. kCorruptData where they are no `count` entries.
Result<std::vector<ZipEntry>> parse_zip_directory(std::string_view bytes, std::uint64_t count);

}  // namespace unstarve::feed
