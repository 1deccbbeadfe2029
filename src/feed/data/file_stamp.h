#pragma once

#include <cstdint>

namespace unstarve::feed {

/// What changes whenever a file does: another size, written or put in place at another time.
struct FileStamp {
  std::uint64_t size = 0;  // bytes
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

}  // namespace unstarve::feed
