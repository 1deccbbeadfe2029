#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "trace/events/events_file.h"
#include "trace/events/events_layout.h"

namespace unstarve::trace {

namespace {

/// Reads fixed-size fields from bytes that may end anywhere; after the first one that does not
/// fit, everything reads as empty and ok() is false.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : bytes_(bytes) {}

  std::string_view take(std::size_t size) {
    if (size > bytes_.size()) {
      ok_ = false;
      bytes_ = {};
      return {};
    }
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  template <class T>
  T number() {
    T value{};
    const std::string_view taken = take(sizeof(T));
    if (taken.size() == sizeof(T)) std::memcpy(&value, taken.data(), sizeof(T));
    return value;
  }
  std::string_view text() {
    const auto size = number<std::uint32_t>();
    return take(size);
  }
  bool ok() const { return ok_; }
  std::string_view rest() const { return bytes_; }

 private:
  std::string_view bytes_;
  bool ok_ = true;
};

/// An event's one-byte enumeration field, if it is one of the `count` values that we know.
template <class Enum>
bool known(std::uint8_t value, Enum last) {
  return value <= static_cast<std::uint8_t>(last);
}

class ChunkReader {
 public:
  ChunkReader(RunSink& sink, EventsReport& report) : sink_(sink), report_(report) {}

  /// Everything in one chunk's raw bytes; false when they break the layout.
  bool read(std::string_view raw, std::uint32_t record_count) {
    Cursor cursor(raw);
    const auto name_count = cursor.number<std::uint32_t>();
    for (std::uint32_t i = 0; i < name_count && cursor.ok(); ++i) {
      const std::string_view name = cursor.text();
      if (name.size() > kEventNameBytesMax || names_.size() > kEventNamesMax) return false;
      names_.emplace_back(name);
    }
    const auto mark_count = cursor.number<std::uint32_t>();
    for (std::uint32_t i = 0; i < mark_count && cursor.ok(); ++i) {
      if (!read_mark(cursor)) return false;
    }
    if (!cursor.ok()) return false;
    if (cursor.rest().size() != std::uint64_t{record_count} * sizeof(StoredEvent)) return false;
    for (std::uint32_t i = 0; i < record_count; ++i) hand_out(cursor.number<StoredEvent>());
    return true;
  }

 private:
  bool read_mark(Cursor& cursor) {
    RingMark mark;
    mark.file = std::string(cursor.text());
    mark.position = cursor.number<std::uint64_t>();
    mark.lost = cursor.number<std::uint64_t>();
    mark.damaged = cursor.number<std::uint64_t>();
    report_.marks.insert_or_assign(mark.file, mark);
    return report_.marks.size() <= kEventRingsMax;
  }

  void hand_out(const StoredEvent& event) {
    const bool sane = event.end_ns >= event.start_ns && event.name < names_.size();
    if (sane && event.type == static_cast<std::uint8_t>(StoredEventType::kDeviceOp)) {
      if (hand_out_operation(event)) return;
    } else if (sane && event.type == static_cast<std::uint8_t>(StoredEventType::kHostCall) &&
               known(event.kind, HostCallKind::kOther)) {
      HostCall call;
      call.start_ns = event.start_ns;
      call.end_ns = event.end_ns;
      call.correlation = event.correlation;
      call.thread = event.thread;
      call.process = event.process;
      call.kind = static_cast<HostCallKind>(event.kind);
      sink_.add(call, names_[event.name]);
      ++report_.events;
      return;
    }
    ++report_.events_dropped;
  }

  bool hand_out_operation(const StoredEvent& event) {
    if (!known(event.kind, DeviceOpKind::kMemset) ||
        !known(event.direction, CopyDirection::kHostToHost) ||
        !known(event.source, MemoryKind::kManaged) || !known(event.target, MemoryKind::kManaged)) {
      return false;
    }
    DeviceOp operation;
    operation.start_ns = event.start_ns;
    operation.end_ns = event.end_ns;
    operation.correlation = event.correlation;
    operation.bytes = event.bytes;
    operation.device = event.device;
    operation.stream = event.stream;
    operation.kind = static_cast<DeviceOpKind>(event.kind);
    operation.direction = static_cast<CopyDirection>(event.direction);
    operation.source = static_cast<MemoryKind>(event.source);
    operation.target = static_cast<MemoryKind>(event.target);
    sink_.add(operation, names_[event.name]);
    ++report_.events;
    return true;
  }

  RunSink& sink_;
  EventsReport& report_;
  std::vector<std::string> names_{""};
};

/// The raw bytes of the chunk at the cursor, or why there are none.
Result<std::string> unpack(Cursor& cursor, const ChunkHeader& header, std::size_t offset,
                           std::uint64_t raw_bytes_left) {
  if (std::memcmp(header.magic, kChunkMagic, sizeof(kChunkMagic)) != 0) {
    return fail(ErrorCode::kCorruptData, "no chunk begins at byte {}", offset);
  }
  if (header.raw_bytes > kChunkRawBytesMax) {
    return fail(ErrorCode::kCorruptData, "the chunk at byte {} claims {} bytes", offset,
                header.raw_bytes);
  }
  if (header.raw_bytes > raw_bytes_left) {
    return fail(ErrorCode::kCorruptData,
                "the chunks up to the one at byte {} unpack to more than a recording holds",
                offset);
  }
  const std::string_view stored = cursor.take(header.stored_bytes);
  if (!cursor.ok()) return fail(ErrorCode::kCorruptData, "the chunk at byte {} is cut off", offset);
  if (XXH3_64bits(stored.data(), stored.size()) != header.checksum) {
    return fail(ErrorCode::kCorruptData, "the chunk at byte {} does not match its checksum",
                offset);
  }
  std::string raw(header.raw_bytes, '\0');
  const std::size_t got = ZSTD_decompress(raw.data(), raw.size(), stored.data(), stored.size());
  if (ZSTD_isError(got) != 0 || got != raw.size()) {
    return fail(ErrorCode::kCorruptData, "the chunk at byte {} cannot be unpacked", offset);
  }
  return raw;
}

}  // namespace

Result<EventsReport> read_events_bytes(std::string_view bytes, std::string_view path, RunSink& sink,
                                       std::uint64_t raw_bytes_max) {
  EventsReport report;
  Cursor cursor(bytes);
  const std::string_view magic = cursor.take(sizeof(kEventsMagic));
  if (magic != std::string_view(kEventsMagic, sizeof(kEventsMagic))) {
    return fail(ErrorCode::kCorruptData, "{} is not an events file: bytes 0..7 are not UNSTEVT1",
                path);
  }
  raw_bytes_max = std::min(raw_bytes_max, kChunkRawBytesMax + kRawBytesPerByteMax * bytes.size());
  ChunkReader reader(sink, report);
  while (!cursor.rest().empty()) {
    const std::size_t offset = bytes.size() - cursor.rest().size();
    const auto header = cursor.number<ChunkHeader>();
    if (!cursor.ok()) {
      report.damage = Error{ErrorCode::kCorruptData,
                            fmt::format("the chunk header at byte {} is cut off", offset), 0};
      break;
    }
    const Result<std::string> raw = unpack(cursor, header, offset, raw_bytes_max);
    if (!raw) {
      report.damage = raw.error();
      break;
    }
    if (!reader.read(*raw, header.record_count)) {
      report.damage = Error{ErrorCode::kCorruptData,
                            fmt::format("the chunk at byte {} breaks its layout", offset), 0};
      break;
    }
    raw_bytes_max -= raw->size();
    ++report.chunks;
  }
  return report;
}

Result<EventsReport> read_events(const std::string& path, RunSink& sink) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail_errno(errno, fmt::format("cannot open {}", path));
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return read_events_bytes(bytes, path, sink);
}

std::uint64_t count_events(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(sizeof(kEventsMagic));
  std::uint64_t events = 0;
  ChunkHeader header;
  std::array<char, sizeof(header)> bytes = {};
  while (file.read(bytes.data(), bytes.size())) {
    std::memcpy(&header, bytes.data(), sizeof(header));
    if (std::memcmp(header.magic, kChunkMagic, sizeof(kChunkMagic)) != 0) break;
    events += header.record_count;
    file.seekg(header.stored_bytes, std::ios::cur);
  }
  return events;
}

}  // namespace unstarve::trace
