#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/io/files.h"
#include "base/io/mapping.h"
#include "base/result.h"
#include "base/unique_handle.h"
#include "feed/samples/store_format.h"

namespace unstarve::feed {

struct FreeMemory {
  void operator()(std::byte* bytes) const noexcept { std::free(bytes); }
};

/// A sample's bytes, in memory of its own that starts at a multiple of 64.
struct SampleRecord {
  std::unique_ptr<std::byte, FreeMemory> bytes;
  std::size_t size = 0;
};

/// Samples as bytes in files of a folder, which any number of processes read and write at once.
/// Records are read, not mapped: a file that somebody cuts is an error then, not a SIGBUS in a
/// training job. The page cache holds them once for all processes.
/// Thread rule: one thread of each process. A forked child may use its parent's.
class SampleStore {
 public:
  struct Options {
    std::string folder;           // made where it is missing; the user's own
    std::uint64_t samples = 0;    // of the data set
    std::uint64_t max_bytes = 0;  // of all records
  };
  struct Counts {
    std::uint64_t kept = 0;
    std::uint64_t served = 0;
    std::uint64_t bytes = 0;
  };

  /// Makes what is not there yet. Errors: kInvalidArgument where the store that is there is of
  /// another number of samples, kNotSupported where it is of another version, kNoPermission where
  /// the folder is somebody else's.
  static Result<std::unique_ptr<SampleStore>> open(std::shared_ptr<io::Files> files,
                                                   const Options& options);

  /// The sample that was made in that state of the data set. Nothing where there is none, where it
  /// is damaged or cannot be read, and once the store is revoked.
  std::optional<SampleRecord> read(std::uint64_t index, std::uint64_t state);
  /// A sample that was read was of use.
  void count_served();
  /// Appends what lies in `parts` as one record. False where it is not kept: the room is used up,
  /// the disk is nearly full, or the store is revoked. Errors: those of the files.
  Result<bool> write(std::uint64_t index, std::uint64_t state,
                     std::span<const std::span<const std::byte>> parts);

  /// From now on nobody reads or writes anything, in no process.
  void revoke();
  bool is_revoked() const;
  Counts counts() const;

 private:
  SampleStore(std::shared_ptr<io::Files> files, Options options)
      : files_(std::move(files)), options_(std::move(options)) {}
  Status open_files();
  void begin_shared();
  StoreShared& shared() const;
  Status begin_file();
  bool takes_room(std::uint64_t size);
  Result<int> records(std::uint64_t file);
  std::string path(const char* name) const { return options_.folder + "/" + name; }

  std::shared_ptr<io::Files> files_;  // shared with whoever gave it, for the tests
  Options options_;
  mutable io::Mapping shared_;
  FileDescriptor entries_;
  std::map<std::uint64_t, FileDescriptor> to_read_;
  // The file that this process appends to.
  FileDescriptor to_write_;
  std::uint64_t file_ = 0;
  std::uint64_t end_ = 0;
  int owner_ = 0;               // the process that began it; a forked child begins its own
  std::uint64_t unlooked_ = 0;  // bytes since the disk's room was looked at
};

}  // namespace unstarve::feed
