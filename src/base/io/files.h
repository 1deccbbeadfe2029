#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/io/mapping.h"
#include "base/result.h"
#include "base/unique_handle.h"

namespace unstarve::io {

/// What tells two files of the same name apart while one of them is open.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  auto operator<=>(const FileIdentity&) const = default;
};

/// What the system says of a file, without reading it.
struct FileState {
  FileIdentity identity;
  std::uint64_t size = 0;        // bytes
  std::int64_t modified_ns = 0;  // when what it holds was changed, in ns since 1970
  std::int64_t changed_ns = 0;   // when anything of it was changed: no program can set this one
  std::uint32_t owner = 0;       // the user's number
  bool is_regular = false;       // no folder, pipe or device
  bool is_folder = false;
};

struct DiskSpace {
  std::uint64_t free = 0;   // bytes that this user may still write
  std::uint64_t total = 0;  // bytes
};

/// The system's calls on files, one function each: the only seam below which tests make files fail,
/// stop short or lie in memory. What goes over several calls (whole reads, whole writes, replacing
/// a file) is in read.h and write.h.
///
///   io::Files files;
///   Result<FileDescriptor> file = files.open(path, O_RDONLY);
///
/// Errors say what could not be done and carry errno; the caller knows with which file. A call that
/// a signal ended fails with EINTR, as in C. Thread rule: any thread. Nothing is kept in it.
class Files {
 public:
  virtual ~Files() = default;

  /// `flags` as open(2) takes them; O_CLOEXEC is always among them.
  virtual Result<FileDescriptor> open(const std::string& path, int flags, unsigned mode = 0644);
  /// For what was written: some file systems say only here that the disk was full.
  virtual Status close(FileDescriptor file);
  virtual Result<FileState> state(int file);
  /// Of the file that `path` leads to.
  virtual Result<FileState> state_at(const std::string& path);

  /// At least one byte from `offset` on, unless the file ends there; at most target.size().
  virtual Result<std::size_t> read_at(int file, std::uint64_t offset, std::span<std::byte> target);
  /// At least one byte, at most all.
  virtual Result<std::size_t> write_at(int file, std::uint64_t offset,
                                       std::span<const std::byte> bytes);
  /// As write_at(), where the file stands: for pipes, terminals and files that grow.
  virtual Result<std::size_t> write(int file, std::span<const std::byte> bytes);
  virtual Status truncate(int file, std::uint64_t size);
  /// Returns when what is in the file is on the disk; of a folder, its names.
  virtual Status sync(int file);
  /// The first `size` bytes, not 0, as memory that all who map the file share.
  virtual Result<Mapping> map(int file, std::size_t size, MapAccess access);

  /// Puts what is named `from` in the place of `to`, at once.
  virtual Status rename(const std::string& from, const std::string& to);
  virtual Status remove(const std::string& path);
  virtual bool exists(const std::string& path);
  /// What the link at `path` holds, which need not be a path: in /proc/PID/fd it is "socket:[7]".
  virtual Result<std::string> link_target(const std::string& path);
  /// Hands every name in a folder to `visit`, in no order.
  virtual Status list(const std::string& path, const std::function<void(std::string_view)>& visit);

  /// Whether this descriptor alone has the file's lock now. It goes with the descriptor.
  virtual Result<bool> try_lock(int file);
  virtual Result<DiskSpace> space(int file);
  /// Takes room on the disk for what will be written, past the file's end too, whose size stays.
  /// Only a wish, as the next two.
  virtual void reserve(int file, std::uint64_t offset, std::uint64_t size);
  /// Makes the next reads come from the disk.
  virtual void drop_cached(int file);
  /// Has the system read these bytes ahead. True where the first of them is in memory already.
  virtual bool fetch_ahead(int file, std::uint64_t offset, std::uint64_t size);
  /// The time of day in ns since 1970, by which files' times go.
  virtual std::int64_t now_ns();
};

/// The real ones.
std::shared_ptr<Files> plain_files();

}  // namespace unstarve::io
