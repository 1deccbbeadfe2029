#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/io/files.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/unique_handle.h"
#include "feed/cache/cache_format.h"

namespace unstarve::feed {

/// The copies that are kept of one data set: which samples have one, and the files they lie in.
/// Any number of processes may have it open; what one of them adds, the others see at once.
/// Thread rule: any thread.
class CacheFolder {
 public:
  // More processes than these do not write at the same time.
  static constexpr std::uint16_t kFilesMax = 256;

  struct DataSet {
    std::uint64_t key = 0;
    std::uint64_t samples = 0;
  };
  /// Makes what is not there yet of DIRECTORY/KEY.
  static Result<std::unique_ptr<CacheFolder>> open(std::shared_ptr<io::Files> storage,
                                                   const std::string& directory,
                                                   const DataSet& data_set);

  /// Nothing where there is none, where it is damaged, and where it cannot be read.
  std::optional<CacheEntry> entry(std::uint64_t index) const;
  /// `entry` gets its seal. A reader sees the old or the new one, or none.
  Status write_entry(std::uint64_t index, CacheEntry entry);

  /// A file of copies, open for reading; kNotFound when nobody has made it.
  Result<std::shared_ptr<const FileDescriptor>> copies(std::uint16_t number);
  std::string copies_path(std::uint16_t number) const;
  /// Bytes of all files; one that another process has just made may be missing.
  Result<std::uint64_t> bytes();

  io::Files& storage() { return *storage_; }
  std::uint64_t key() const { return data_set_.key; }
  const std::string& path() const { return path_; }

 private:
  CacheFolder(std::shared_ptr<io::Files> storage, std::string path, const DataSet& data_set)
      : storage_(std::move(storage)), path_(std::move(path)), data_set_(data_set) {}
  Status open_slots();
  bool is_open(std::uint16_t number);

  std::shared_ptr<io::Files> storage_;  // shared with whoever gave it, for the tests
  std::string path_;
  DataSet data_set_;
  FileDescriptor slots_;
  Mutex mutex_;
  // Shared with those who read from one just now; in the order of their numbers.
  std::vector<std::shared_ptr<const FileDescriptor>> files_ UNSTARVE_GUARDED_BY(mutex_);
  std::atomic<std::uint32_t> sums_ = 0;  // calls of bytes()
};

}  // namespace unstarve::feed
