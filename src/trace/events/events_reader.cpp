#include <fcntl.h>
#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "base/io/read.h"
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
      name_bytes_ += name.size();
      if (name_bytes_ > kEventNamesBytesMax) return false;
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
    const std::string_view file = cursor.text();
    if (file.size() > kRingNameBytesMax) return false;
    mark.file = std::string(file);
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
  std::size_t name_bytes_ = 0;
};

/// Where chunks come from.
class EventsSource {
 public:
  virtual ~EventsSource() = default;
  virtual std::uint64_t size() const = 0;
  /// From `offset` on; less where the bytes end. It is valid until the next call.
  virtual Result<std::string_view> read(std::uint64_t offset, std::size_t size) = 0;
};

class EventsBytes final : public EventsSource {
 public:
  explicit EventsBytes(std::string_view bytes) : bytes_(bytes) {}
  std::uint64_t size() const override { return bytes_.size(); }
  Result<std::string_view> read(std::uint64_t offset, std::size_t size) override {
    return bytes_.substr(std::min<std::uint64_t>(offset, bytes_.size()), size);
  }

 private:
  std::string_view bytes_;
};

class EventsFileSource final : public EventsSource {
 public:
  explicit EventsFileSource(io::OpenFile file) : file_(std::move(file)) {}
  std::uint64_t size() const override { return file_.state.size; }
  Result<std::string_view> read(std::uint64_t offset, std::size_t size) override {
    bytes_.resize(size);
    const Result<std::size_t> got = io::read_available(files_, file_.file.get(), offset,
                                                       std::as_writable_bytes(std::span(bytes_)));
    if (!got) return forward_error(got);
    return std::string_view(bytes_).substr(0, *got);
  }

 private:
  io::Files files_;
  io::OpenFile file_;
  std::string bytes_;
};

Result<EventsFileSource> open_events(const std::string& path) {
  io::Files files;
  Result<io::OpenFile> file = io::open_regular(files, path, O_RDONLY);
  if (!file) return fail_again(file.error(), fmt::format("cannot open {}", path));
  return EventsFileSource(std::move(*file));
}

/// Nothing at the end of the bytes.
Result<std::optional<ChunkHeader>> read_header(EventsSource& source, std::uint64_t offset) {
  const Result<std::string_view> bytes = source.read(offset, sizeof(ChunkHeader));
  if (!bytes) return forward_error(bytes);
  if (bytes->empty()) return std::nullopt;
  if (bytes->size() < sizeof(ChunkHeader)) {
    return fail(ErrorCode::kCorruptData, "the chunk header at byte {} is cut off", offset);
  }
  ChunkHeader header;
  std::memcpy(&header, bytes->data(), sizeof(header));
  if (std::memcmp(header.magic, kChunkMagic, sizeof(kChunkMagic)) != 0) {
    return fail(ErrorCode::kCorruptData, "no chunk begins at byte {}", offset);
  }
  return header;
}

/// The raw bytes of the chunk whose header stands at `offset`, or why there are none.
Result<std::string> unpack(EventsSource& source, const ChunkHeader& header, std::uint64_t offset,
                           std::uint64_t raw_bytes_left) {
  if (header.raw_bytes > kChunkRawBytesMax) {
    return fail(ErrorCode::kCorruptData, "the chunk at byte {} claims {} bytes", offset,
                header.raw_bytes);
  }
  if (header.raw_bytes > raw_bytes_left) {
    return fail(ErrorCode::kCorruptData,
                "the chunks up to the one at byte {} unpack to more than a recording holds",
                offset);
  }
  if (header.stored_bytes > source.size()) {
    return fail(ErrorCode::kCorruptData, "the chunk at byte {} is cut off", offset);
  }
  const Result<std::string_view> stored =
      source.read(offset + sizeof(ChunkHeader), header.stored_bytes);
  if (!stored) return forward_error(stored);
  if (stored->size() < header.stored_bytes) {
    return fail(ErrorCode::kCorruptData, "the chunk at byte {} is cut off", offset);
  }
  if (XXH3_64bits(stored->data(), stored->size()) != header.checksum) {
    return fail(ErrorCode::kCorruptData, "the chunk at byte {} does not match its checksum",
                offset);
  }
  std::string raw(header.raw_bytes, '\0');
  const std::size_t got = ZSTD_decompress(raw.data(), raw.size(), stored->data(), stored->size());
  if (ZSTD_isError(got) != 0 || got != raw.size()) {
    return fail(ErrorCode::kCorruptData, "the chunk at byte {} cannot be unpacked", offset);
  }
  return raw;
}

/// Reads chunks from `offset` on, until `report` has as many events as `bounds` allow.
Status read_chunks(EventsSource& source, std::uint64_t offset, RunSink& sink,
                   const EventsBounds& bounds, EventsReport& report) {
  std::uint64_t raw_bytes_left =
      std::min(bounds.raw_bytes_max, kChunkRawBytesMax + kRawBytesPerByteMax * source.size());
  ChunkReader reader(sink, report);
  while (true) {
    const Result<std::optional<ChunkHeader>> header = read_header(source, offset);
    if (!header) return forward_error(header);
    if (!*header) return {};
    if (report.events + report.events_dropped >= bounds.events_max) {
      report.has_more = true;
      return {};
    }
    const Result<std::string> raw = unpack(source, **header, offset, raw_bytes_left);
    if (!raw) return forward_error(raw);
    if (!reader.read(*raw, (*header)->record_count)) {
      return fail(ErrorCode::kCorruptData, "the chunk at byte {} breaks its layout", offset);
    }
    raw_bytes_left -= raw->size();
    offset += sizeof(ChunkHeader) + (*header)->stored_bytes;
    ++report.chunks;
  }
}

Result<EventsReport> read_events_from(EventsSource& source, std::string_view path, RunSink& sink,
                                      const EventsBounds& bounds) {
  const Result<std::string_view> magic = source.read(0, sizeof(kEventsMagic));
  if (!magic) return fail_again(magic.error(), fmt::format("cannot read {}", path));
  if (*magic != std::string_view(kEventsMagic, sizeof(kEventsMagic))) {
    return fail(ErrorCode::kCorruptData, "{} is not an events file: bytes 0..7 are not UNSTEVT1",
                path);
  }
  EventsReport report;
  const Status read = read_chunks(source, sizeof(kEventsMagic), sink, bounds, report);
  if (!read) report.damage = read.error();
  return report;
}

}  // namespace

Result<EventsReport> read_events_bytes(std::string_view bytes, std::string_view path, RunSink& sink,
                                       const EventsBounds& bounds) {
  EventsBytes memory(bytes);
  return read_events_from(memory, path, sink, bounds);
}

Result<EventsReport> read_events(const std::string& path, RunSink& sink,
                                 const EventsBounds& bounds) {
  Result<EventsFileSource> file = open_events(path);
  if (!file) return forward_error(file);
  return read_events_from(*file, path, sink, bounds);
}

std::uint64_t count_events(const std::string& path) {
  Result<EventsFileSource> file = open_events(path);
  if (!file) return 0;
  std::uint64_t events = 0;
  std::uint64_t offset = sizeof(kEventsMagic);
  while (true) {
    const Result<std::optional<ChunkHeader>> header = read_header(*file, offset);
    if (!header || !*header) return events;
    events += (*header)->record_count;
    offset += sizeof(ChunkHeader) + (*header)->stored_bytes;
  }
}

}  // namespace unstarve::trace
