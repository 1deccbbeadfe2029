#include "feed/shard/record.h"

#include <algorithm>

#include "base/check.h"
#include "base/io/read.h"
#include "feed/data/room_in.h"

namespace unstarve::feed {
namespace {

/// Extent of a record whose sizes are known not to overflow.
RecordExtent extent_of(const RecordHeader& header) {
  RecordExtent extent;
  extent.payload = align_up(sizeof(RecordHeader) + header.name_size + header.meta_size);
  extent.original = align_up(extent.payload + header.size);
  extent.end = extent.original;
  if ((header.flags & kHasOriginal) != 0) extent.end = align_up(extent.end + header.source_size);
  return extent;
}

void put(std::vector<std::byte>& record, std::uint64_t offset, std::span<const std::byte> bytes) {
  std::copy(bytes.begin(), bytes.end(), record.begin() + static_cast<std::ptrdiff_t>(offset));
}

std::uint32_t head_checksum(std::span<const std::byte> head) {
  return static_cast<std::uint32_t>(checksum_of(head));
}

std::uint64_t text_checksum(std::span<const std::byte> record, const RecordHeader& header) {
  return checksum_of(record.subspan(sizeof(RecordHeader), header.name_size + header.meta_size));
}

}  // namespace

Status check_sample(const ShardSample& sample) {
  if (sample.name.size() > kMaxNameBytes) {
    return fail(ErrorCode::kInvalidArgument, "the name has {} bytes, the limit is {}",
                sample.name.size(), kMaxNameBytes);
  }
  if (sample.meta.size() > kMaxMetaBytes || sample.head_size > sample.payload.size() ||
      (sample.keep_original && sample.original.size() != sample.source_size)) {
    return fail(ErrorCode::kInvalidArgument, "{}: the parts of the sample do not fit together",
                sample.name);
  }
  return {};
}

void encode_record_start(const ShardSample& sample, std::vector<std::byte>& start) {
  RecordHeader header;
  header.kind = static_cast<std::uint8_t>(sample.kind);
  header.flags = sample.keep_original ? kHasOriginal : std::uint8_t{0};
  header.name_size = static_cast<std::uint16_t>(sample.name.size());
  header.meta_size = static_cast<std::uint32_t>(sample.meta.size());
  header.head_size = sample.head_size;
  header.index = sample.index;
  header.size = sample.payload.size();
  header.source_size = sample.source_size;
  header.source_mtime_ns = sample.source_mtime_ns;
  header.label = sample.label;
  start.assign(extent_of(header).payload, std::byte{0});
  put(start, sizeof(RecordHeader), bytes_of_text(sample.name));
  put(start, sizeof(RecordHeader) + sample.name.size(), sample.meta);
  header.head_checksum = head_checksum(sample.payload.first(sample.head_size));
  header.payload_checksum = checksum_of(sample.payload);
  if (sample.keep_original) header.original_checksum = checksum_of(sample.original);
  header.text_checksum = text_checksum(start, header);
  seal(header);
  put(start, 0, bytes_of(header));
}

void encode_record(const ShardSample& sample, std::vector<std::byte>& record) {
  encode_record_start(sample, record);
  const auto append = [&record](std::span<const std::byte> bytes) {
    record.insert(record.end(), bytes.begin(), bytes.end());
    record.resize(align_up(record.size()));
  };
  append(sample.payload);
  if (sample.keep_original) append(sample.original);
}

Result<RecordExtent> check_header(const RecordHeader& header, std::uint64_t available) {
  if (header.magic != kRecordMagic || !is_sealed(header)) {
    return fail(ErrorCode::kCorruptData, "the record's header is damaged");
  }
  const bool original = (header.flags & kHasOriginal) != 0;
  const std::uint64_t text = header.name_size + std::uint64_t{header.meta_size};
  // Each part on its own first, so that their sum cannot overflow.
  if (header.kind >= kPayloadKinds || header.name_size > kMaxNameBytes ||
      header.meta_size > kMaxMetaBytes || header.head_size > header.size || text > available ||
      header.size > available || (original && header.source_size > available) ||
      available > std::uint64_t{1} << 62) {
    return fail(ErrorCode::kCorruptData, "the record's header makes no sense");
  }
  const RecordExtent extent = extent_of(header);
  if (extent.end > available) {
    return fail(ErrorCode::kCorruptData, "the record is cut off");
  }
  return extent;
}

Result<RecordView> parse_record(std::span<const std::byte> bytes) {
  RecordView view;
  if (bytes.size() < sizeof(RecordHeader)) {
    return fail(ErrorCode::kCorruptData, "the record is cut off");
  }
  std::memcpy(&view.header, bytes.data(), sizeof(RecordHeader));
  const RecordHeader& header = view.header;
  // The bytes may end with the payload; the caller knows that the rest is in the file.
  const Result<RecordExtent> extent = check_header(header, std::uint64_t{1} << 62);
  if (!extent) return forward_error(extent);
  if (extent->payload + header.size > bytes.size()) {
    return fail(ErrorCode::kCorruptData, "the record is cut off");
  }
  const char* text = static_cast<const char*>(static_cast<const void*>(bytes.data()));
  view.name = {text + sizeof(RecordHeader), header.name_size};
  view.meta = bytes.subspan(sizeof(RecordHeader) + header.name_size, header.meta_size);
  view.payload = bytes.subspan(extent->payload, header.size);
  if (text_checksum(bytes, header) != header.text_checksum) {
    return fail(ErrorCode::kCorruptData, "the sample's name is damaged (its checksum differs)");
  }
  if (checksum_of(view.payload) != header.payload_checksum) {
    return fail(ErrorCode::kCorruptData, "the sample is damaged (its checksum differs)");
  }
  if ((header.flags & kHasOriginal) != 0 && bytes.size() >= extent->end) {
    view.original = bytes.subspan(extent->original, header.source_size);
    if (checksum_of(view.original) != header.original_checksum) {
      return fail(ErrorCode::kCorruptData, "the original bytes are damaged (checksum differs)");
    }
  }
  return view;
}

Status check_record(const RecordHeader& header, const TableEntry& entry, std::uint64_t index) {
  const Result<RecordExtent> extent = check_header(header, std::uint64_t{1} << 62);
  if (!extent) return forward_error(extent);
  if (header.index == index && header.kind == entry.kind && header.size == entry.size &&
      header.head_size == entry.head_size && header.label == entry.label &&
      extent->payload == entry.payload_start) {
    return {};
  }
  return fail(ErrorCode::kCorruptData,
              "another sample lies where the index says that this one is: pack the data set again");
}

Result<std::span<const std::byte>> parse_record_head(std::span<const std::byte> bytes,
                                                     const TableEntry& entry, std::uint64_t index) {
  RecordHeader header;
  UNSTARVE_CHECK(bytes.size() >= sizeof(header) &&
                     bytes.size() == std::size_t{entry.payload_start} + entry.head_size,
                 "the record's first bytes up to the end of the payload's head");
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (Status status = check_record(header, entry, index); !status) return forward_error(status);
  const std::span<const std::byte> head = bytes.subspan(entry.payload_start);
  if (head_checksum(head) != header.head_checksum) {
    return fail(ErrorCode::kCorruptData, "the sample's head is damaged (its checksum differs)");
  }
  return head;
}

Result<RecordView> read_record(io::Files& storage, int file, std::uint64_t offset,
                               std::vector<std::byte>& buffer) {
  const Result<std::uint64_t> file_size = io::size_of(storage, file);
  if (!file_size) return forward_error(file_size);
  if (offset > *file_size || *file_size - offset < sizeof(RecordHeader)) {
    return fail(ErrorCode::kCorruptData, "the record is cut off");
  }
  RecordHeader header;
  const std::span<std::byte> head = std::as_writable_bytes(std::span(&header, 1));
  if (Status status = io::read_exactly(storage, file, offset, head); !status)
    return forward_error(status);
  const Result<RecordExtent> extent = check_header(header, *file_size - offset);
  if (!extent) return forward_error(extent);
  const std::span<std::byte> bytes = room_in(buffer, extent->end);
  if (Status status = io::read_exactly(storage, file, offset, bytes); !status)
    return forward_error(status);
  return parse_record(bytes);
}

Result<std::uint64_t> scan_records(io::Files& storage, int file, const RecordVisitor& visit) {
  std::vector<std::byte> buffer;
  std::uint64_t offset = sizeof(ShardHeader);
  for (;;) {
    const Result<RecordView> record = read_record(storage, file, offset, buffer);
    if (!record) {
      if (record.error().code == ErrorCode::kCorruptData) return offset;
      return forward_error(record);
    }
    if (Status status = visit(offset, *record); !status) return forward_error(status);
    offset += extent_of(record->header).end;
  }
}

TableEntry entry_of(const RecordHeader& header, std::uint64_t offset, std::string_view name) {
  TableEntry entry;
  entry.offset = offset;
  entry.size = header.size;
  entry.source_size = header.source_size;
  entry.head_size = header.head_size;
  entry.label = header.label;
  entry.name_size = header.name_size;
  entry.kind = header.kind;
  entry.flags = header.flags;
  entry.payload_start = static_cast<std::uint32_t>(extent_of(header).payload);
  entry.name_checksum = static_cast<std::uint32_t>(checksum_of(bytes_of_text(name)));
  return entry;
}

}  // namespace unstarve::feed
