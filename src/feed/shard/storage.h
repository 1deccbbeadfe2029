#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "base/unique_handle.h"

namespace unstarve::feed {

/// The file operations that shards need. A seam: the fault tests fail or cut the n-th call.
/// Thread rule: any thread.
class Storage {
 public:
  virtual ~Storage() = default;

  virtual Result<FileDescriptor> open_to_read(const std::string& path);
  /// Makes the file if it is not there; what is in it stays.
  virtual Result<FileDescriptor> open_to_write(const std::string& path);
  virtual Result<std::uint64_t> size(int file);
  /// Makes the next reads come from the disk, as far as the system heeds it.
  virtual void drop_cached(int file);
  /// Fills `target` from `offset` on. kCorruptData when the file ends before that.
  virtual Status read(int file, std::uint64_t offset, std::span<std::byte> target);
  /// Writes all of `bytes` at `offset`, or says why not; a part may have been written then.
  virtual Status write(int file, std::uint64_t offset, std::span<const std::byte> bytes);
  virtual Status truncate(int file, std::uint64_t size);
  /// Returns when the file's bytes are on the disk.
  virtual Status sync(int file);
  /// As sync(), for the names in a folder.
  virtual Status sync_folder(const std::string& path);
  virtual Status rename(const std::string& from, const std::string& to);
};

std::shared_ptr<Storage> plain_storage();

/// Puts `name` and a colon before the message of an error.
tl::unexpected<Error> error_in(const std::string& name, Error error);

}  // namespace unstarve::feed
