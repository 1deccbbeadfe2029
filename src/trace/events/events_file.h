#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/io/files.h"
#include "base/result.h"
#include "base/unique_handle.h"
#include "trace/events/events_layout.h"
#include "trace/store/run_sink.h"

namespace unstarve::trace {

enum class StoredEventType : std::uint8_t { kDeviceOp = 1, kHostCall = 2 };

/// One event of events-RANK.uev, little-endian, 64 bytes. Fields that a type does not have are 0.
struct StoredEvent {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t correlation = kNoCorrelation;
  std::int64_t bytes = 0;    // device operations
  std::int64_t thread = 0;   // host calls
  std::int64_t process = 0;  // host calls
  std::uint32_t name = 0;    // index among all names of the file so far; 0 is ""
  std::int16_t device = 0;
  std::uint8_t type = 0;  // StoredEventType
  std::uint8_t kind = 0;  // DeviceOpKind or HostCallKind
  std::int32_t stream = 0;
  std::uint8_t direction = 0;  // CopyDirection
  std::uint8_t source = 0;     // MemoryKind
  std::uint8_t target = 0;     // MemoryKind
  std::uint8_t reserved = 0;
};
static_assert(sizeof(StoredEvent) == 64 && std::is_trivially_copyable_v<StoredEvent>);

/// Appends events to a file in chunks; each chunk stands on its own feet (length, checksum), so
/// that a kill between two of them costs only what was not flushed. Thread rule: one at a time.
class EventsWriter {
 public:
  static Result<EventsWriter> create(const std::string& path, std::uint64_t bytes_max,
                                     std::shared_ptr<io::Files> files = io::plain_files());

  void add(const DeviceOp& operation, std::string_view name);
  void add(const HostCall& call, std::string_view name);
  void set_mark(const RingMark& mark);

  /// Writes what was added as one chunk. After an error, or once the file has reached its bound,
  /// those events are dropped and counted.
  Status flush();
  /// Events waiting for flush().
  std::size_t pending() const { return events_.size(); }
  std::uint64_t dropped() const { return dropped_; }
  std::uint64_t bytes_written() const { return bytes_written_; }

 private:
  std::uint32_t intern(std::string_view name);
  std::vector<std::byte> encode() const;
  Status write_chunk(const std::vector<std::byte>& raw);
  Status write(std::string_view bytes);
  void forget_pending();

  std::shared_ptr<io::Files> files_;  // shared with the test that makes them fail
  FileDescriptor file_;
  std::string path_;
  std::uint64_t bytes_max_ = 0;
  std::uint64_t bytes_written_ = 0;
  std::uint64_t dropped_ = 0;
  std::vector<StoredEvent> events_;
  std::vector<std::string> new_names_;
  std::map<std::string, RingMark> marks_;  // that no chunk has yet
  std::set<std::string> rings_;            // that marks were kept of
  std::unordered_map<std::string, std::uint32_t> name_ids_;
  std::size_t name_bytes_ = 0;  // of all names in name_ids_
};

/// What a reading of an events file found besides the events.
struct EventsReport {
  std::uint64_t chunks = 0;
  std::uint64_t events = 0;
  std::uint64_t events_dropped = 0;  // events of undefined type or kind, or with times reversed
  std::map<std::string, RingMark> marks;  // the last of each ring
  std::optional<Error> damage;            // why reading ended before the end of the file
  bool has_more = false;                  // there are chunks behind the last event that is read
};

struct EventsBounds {
  std::uint64_t raw_bytes_max = kEventsRawBytesMax;  // of all chunks, as they are unpacked
  std::uint64_t events_max = kEventsReadMax;
};

/// Hands the events of every whole chunk to `sink`, in the order of the file, one chunk in memory
/// at a time. Damage ends the reading and is told in the report, and so does the chunk with which
/// there are `events_max`. Chunks beyond `raw_bytes_max`, or that unpack to more than can be of a
/// recording of that size, are damage. Only a file that cannot be opened, or that is no events
/// file, is an error.
Result<EventsReport> read_events(const std::string& path, RunSink& sink,
                                 const EventsBounds& bounds = {});

/// How many events its chunks say that they hold, as far as they can be followed; 0 where there is
/// no such file.
std::uint64_t count_events(const std::string& path);

/// As read_events, from memory; for tests and the fuzzer.
Result<EventsReport> read_events_bytes(std::string_view bytes, std::string_view path, RunSink& sink,
                                       const EventsBounds& bounds = {});

}  // namespace unstarve::trace
