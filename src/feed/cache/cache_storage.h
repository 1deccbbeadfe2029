#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "feed/shard/storage.h"

namespace unstarve::feed {

struct DiskSpace {
  std::uint64_t free = 0;   // bytes that this user may still write
  std::uint64_t total = 0;  // bytes
};

/// The file operations that the cache needs. A seam: the tests fail the n-th call.
/// Thread rule: any thread.
class CacheStorage : public Storage {
 public:
  /// Makes the folder and those above it. kNoPermission when it belongs to another user, who could
  /// decide what is read from it.
  virtual Status make_folder(const std::string& path);
  /// Whether this descriptor alone has the file's lock now. It goes with the descriptor.
  virtual Result<bool> try_lock(int file);
  virtual Result<DiskSpace> space(int file);
  /// Takes room on the disk for what will be written, past the file's end too, whose size stays;
  /// where the file system can do it.
  virtual void reserve(int file, std::uint64_t offset, std::uint64_t size);
  /// The time of day, as files' times tell it.
  virtual std::int64_t now_ns();
};

}  // namespace unstarve::feed
