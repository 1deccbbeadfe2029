#include <fcntl.h>
#include <xxhash.h>
#include <zstd.h>

#include <cstring>
#include <utility>

#include "base/io/write.h"
#include "trace/events/events_file.h"
#include "trace/events/events_layout.h"

namespace unstarve::trace {

namespace {

/// zstd's fastest ordinary level: the events of a second compress in well under a millisecond.
constexpr int kCompressionLevel = 1;

void append(std::vector<std::byte>& out, const void* data, std::size_t size) {
  const auto* bytes = static_cast<const std::byte*>(data);
  out.insert(out.end(), bytes, bytes + size);
}

void append_u32(std::vector<std::byte>& out, std::uint32_t value) {
  append(out, &value, sizeof(value));
}
void append_u64(std::vector<std::byte>& out, std::uint64_t value) {
  append(out, &value, sizeof(value));
}
void append_text(std::vector<std::byte>& out, std::string_view text) {
  append_u32(out, static_cast<std::uint32_t>(text.size()));
  append(out, text.data(), text.size());
}

}  // namespace

Result<EventsWriter> EventsWriter::create(const std::string& path, std::uint64_t bytes_max,
                                          std::shared_ptr<io::Files> files) {
  EventsWriter writer;
  writer.files_ = std::move(files);
  writer.path_ = path;
  writer.bytes_max_ = bytes_max;
  Result<FileDescriptor> file = writer.files_->open(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file) return fail_again(file.error(), fmt::format("cannot create {}", path));
  writer.file_ = std::move(*file);
  if (const Status header = writer.write({kEventsMagic, sizeof(kEventsMagic)}); !header) {
    return forward_error(header);
  }
  writer.name_ids_.emplace("", 0);
  return writer;
}

std::uint32_t EventsWriter::intern(std::string_view name) {
  const auto next = static_cast<std::uint32_t>(name_ids_.size());
  std::string kept(name.substr(0, kEventNameBytesMax));
  const bool is_full = next > kEventNamesMax || name_bytes_ + kept.size() > kEventNamesBytesMax;
  if (is_full && name_ids_.count(kept) == 0) return 0;
  const auto [entry, inserted] = name_ids_.try_emplace(std::move(kept), next);
  if (inserted) {
    new_names_.push_back(entry->first);
    name_bytes_ += entry->first.size();
  }
  return entry->second;
}

void EventsWriter::add(const DeviceOp& operation, std::string_view name) {
  StoredEvent event;
  event.start_ns = operation.start_ns;
  event.end_ns = operation.end_ns;
  event.correlation = operation.correlation;
  event.bytes = operation.bytes;
  event.name = intern(name);
  event.device = static_cast<std::int16_t>(operation.device);
  event.type = static_cast<std::uint8_t>(StoredEventType::kDeviceOp);
  event.kind = static_cast<std::uint8_t>(operation.kind);
  event.stream = operation.stream;
  event.direction = static_cast<std::uint8_t>(operation.direction);
  event.source = static_cast<std::uint8_t>(operation.source);
  event.target = static_cast<std::uint8_t>(operation.target);
  events_.push_back(event);
}

void EventsWriter::add(const HostCall& call, std::string_view name) {
  StoredEvent event;
  event.start_ns = call.start_ns;
  event.end_ns = call.end_ns;
  event.correlation = call.correlation;
  event.thread = call.thread;
  event.process = call.process;
  event.name = intern(name);
  event.type = static_cast<std::uint8_t>(StoredEventType::kHostCall);
  event.kind = static_cast<std::uint8_t>(call.kind);
  events_.push_back(event);
}

void EventsWriter::set_mark(const RingMark& mark) {
  if (rings_.size() >= kEventRingsMax && rings_.count(mark.file) == 0) return;
  rings_.insert(mark.file);
  marks_.insert_or_assign(mark.file, mark);
}

std::vector<std::byte> EventsWriter::encode() const {
  std::vector<std::byte> raw;
  raw.reserve(events_.size() * sizeof(StoredEvent) + 4096);
  append_u32(raw, static_cast<std::uint32_t>(new_names_.size()));
  for (const std::string& name : new_names_) append_text(raw, name);
  append_u32(raw, static_cast<std::uint32_t>(marks_.size()));
  for (const auto& [file, mark] : marks_) {
    append_text(raw, file);
    append_u64(raw, mark.position);
    append_u64(raw, mark.lost);
    append_u64(raw, mark.damaged);
  }
  append(raw, events_.data(), events_.size() * sizeof(StoredEvent));
  return raw;
}

Status EventsWriter::write_chunk(const std::vector<std::byte>& raw) {
  std::string chunk(sizeof(ChunkHeader) + ZSTD_compressBound(raw.size()), '\0');
  const std::size_t stored =
      ZSTD_compress(chunk.data() + sizeof(ChunkHeader), chunk.size() - sizeof(ChunkHeader),
                    raw.data(), raw.size(), kCompressionLevel);
  if (ZSTD_isError(stored) != 0) {
    return fail(ErrorCode::kIo, "cannot compress device events: {}", ZSTD_getErrorName(stored));
  }
  chunk.resize(sizeof(ChunkHeader) + stored);
  if (bytes_written_ + chunk.size() > bytes_max_) {
    return fail(ErrorCode::kIo,
                "{} has reached its bound of {} bytes; later events are counted only", path_,
                bytes_max_);
  }
  ChunkHeader header;
  std::memcpy(header.magic, kChunkMagic, sizeof(kChunkMagic));
  header.raw_bytes = static_cast<std::uint32_t>(raw.size());
  header.stored_bytes = static_cast<std::uint32_t>(stored);
  header.record_count = static_cast<std::uint32_t>(events_.size());
  header.checksum = XXH3_64bits(chunk.data() + sizeof(ChunkHeader), stored);
  std::memcpy(chunk.data(), &header, sizeof(header));
  return write(chunk);
}

Status EventsWriter::write(std::string_view bytes) {
  const Status written = io::write_all_at(*files_, file_.get(), bytes_written_,
                                          std::as_bytes(std::span(bytes.data(), bytes.size())));
  if (!written) {
    // Half a chunk would hide every later one from readers.
    if (!files_->truncate(file_.get(), bytes_written_)) bytes_max_ = bytes_written_;
    return fail_again(written.error(), fmt::format("cannot write device events to {}", path_));
  }
  bytes_written_ += bytes.size();
  return {};
}

void EventsWriter::forget_pending() {
  // Names that readers never saw must be sent again with the next chunk that uses them.
  for (const std::string& name : new_names_) {
    name_ids_.erase(name);
    name_bytes_ -= name.size();
  }
  dropped_ += events_.size();
  events_.clear();
  new_names_.clear();
}

Status EventsWriter::flush() {
  if (events_.empty() && marks_.empty()) return {};
  const Status written = write_chunk(encode());
  if (!written) {
    forget_pending();
    return written;
  }
  events_.clear();
  new_names_.clear();
  marks_.clear();
  return {};
}

}  // namespace unstarve::trace
