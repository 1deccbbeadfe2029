#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/io/files.h"
#include "base/result.h"

namespace unstarve {

/// What the records of a ring are; the layout of each kind is in docs/formats/run.md.
enum class RingKind : std::uint32_t { kHookEvents = 1, kDeviceActivity = 2 };

struct RingOptions {
  RingKind kind = RingKind::kHookEvents;
  std::uint32_t record_size = 64;  // bytes
  std::uint64_t capacity = 16384;  // records, a power of two
  std::int64_t created_ns = 0;     // CLOCK_MONOTONIC
};

/// Writes records into a memory-mapped file that outlives the process (format:
/// docs/formats/run.md). Never blocks: old records are overwritten when nobody reads them in time.
/// Thread rule: one thread at a time; the caller locks.
class RingWriter {
 public:
  static Result<RingWriter> create(const std::string& path, const RingOptions& options);
  RingWriter(RingWriter&&) noexcept;
  RingWriter& operator=(RingWriter&&) noexcept;
  ~RingWriter();

  /// `record` must be exactly record_size bytes.
  void append(std::span<const std::byte> record);
  /// Replaces the JSON text about the writer; longer than 4032 bytes is an error, nothing changes.
  Status set_text(std::string_view json);

 private:
  struct Impl;
  explicit RingWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Follows a ring that another process writes, or wrote. The file is not trusted: every field is
/// checked, a file that shrinks under the map is read by pread, never by access to the map.
/// Thread rule: one thread at a time.
class RingReader {
 public:
  static Result<RingReader> open(const std::string& path);
  RingReader(RingReader&&) noexcept;
  RingReader& operator=(RingReader&&) noexcept;
  ~RingReader();

  RingKind kind() const;
  std::uint32_t record_size() const;
  std::uint64_t writer_pid() const;
  std::int64_t created_ns() const;
  /// No process maps the file for writing any more, however the last one ended: what is in it by
  /// now is all. False also where the file system cannot tell.
  bool writer_is_gone() const;
  std::string path() const;
  /// Of the file that was opened.
  io::FileIdentity identity() const;

  /// Hands every record not seen yet to `each`, oldest first; returns how many. The span is valid
  /// only during the call.
  Result<std::uint64_t> drain(const std::function<void(std::span<const std::byte>)>& each);
  /// Records that drain() has handed out or counted as lost: where a later reader goes on.
  std::uint64_t position() const;
  /// Goes on at record `position`, which another reader had reached; call it before drain().
  void skip_to(std::uint64_t position);
  /// Records overwritten before drain() could read them, since open().
  std::uint64_t lost() const;
  /// The JSON text about the writer as it is now; empty when there is none.
  Result<std::string> text() const;

 private:
  struct Impl;
  explicit RingReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace unstarve
