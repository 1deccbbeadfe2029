#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "feed/shard/payload_kind.h"
#include "feed/shard/sealed.h"

namespace unstarve::feed {

// The structures of docs/formats/shard.md as they lie in files: little-endian, no padding, each
// with the XXH3 of its other bytes in its last eight.
static_assert(std::endian::native == std::endian::little);

constexpr std::uint32_t kShardVersion = 1;
constexpr std::uint64_t kShardAlignment = 64;
constexpr std::size_t kMaxNameBytes = 4095;
constexpr std::size_t kMaxMetaBytes = 4096;

constexpr Magic kShardMagic = {'U', 'N', 'S', 'T', 'S', 'H', 'R', 'D'};
constexpr Magic kTableMagic = {'U', 'N', 'S', 'T', 'T', 'A', 'B', 'L'};
constexpr Magic kTrailerMagic = {'U', 'N', 'S', 'T', 'T', 'A', 'I', 'L'};
constexpr std::uint32_t kRecordMagic = 0x504D'5355;  // "USMP"

/// Bits of RecordHeader::flags and TableEntry::flags.
constexpr std::uint8_t kHasOriginal = 1;  // the source file's bytes follow the payload

/// At the start of a shard.
struct ShardHeader {
  Magic magic = kShardMagic;
  std::uint32_t version = kShardVersion;
  std::uint32_t ordinal = 0;       // of the shard in its set
  std::uint64_t set_id = 0;        // equal in all shards of a set
  std::uint64_t first_sample = 0;  // samples in the shards before
  std::array<std::uint64_t, 3> reserved = {};
  std::uint64_t checksum = 0;
};

/// Before each payload. Name and meta follow at once, the payload at the next multiple of 64, the
/// original bytes, if kept, at the next multiple after it.
struct RecordHeader {
  std::uint32_t magic = kRecordMagic;
  std::uint8_t kind = 0;
  std::uint8_t flags = 0;
  std::uint16_t name_size = 0;
  std::uint32_t meta_size = 0;
  std::uint32_t head_size = 0;       // of the payload, where its head is read first; else 0
  std::uint64_t index = 0;           // of the sample in its data set
  std::uint64_t size = 0;            // of the payload
  std::uint64_t source_size = 0;     // of the file that it was made from
  std::int64_t source_mtime_ns = 0;  // of that file; 0 where it was not kept
  std::int32_t label = 0;
  std::uint32_t head_checksum = 0;  // low half of the XXH3 of the payload's first head_size bytes
  std::uint64_t payload_checksum = 0;
  std::uint64_t original_checksum = 0;
  std::uint64_t text_checksum = 0;  // of name and meta
  std::uint64_t checksum = 0;
};

/// Before the sections of a table: entries, labels, names, classes, shards, each at a multiple of
/// 64, in this order.
struct TableHeader {
  Magic magic = kTableMagic;
  std::uint32_t version = kShardVersion;
  std::uint32_t classes = 0;
  std::uint64_t set_id = 0;
  std::uint64_t samples = 0;
  std::uint64_t shards = 0;
  std::uint64_t labels_size = 0;  // bytes: 4 per sample, or 0 when all labels are 0
  std::uint64_t names_size = 0;
  std::uint64_t classes_size = 0;
  std::uint64_t shards_size = 0;
  std::array<std::uint64_t, kPayloadKinds> samples_of_kind = {};
  std::uint64_t payload_size = 0;  // bytes of all payloads
  std::uint64_t source_size = 0;   // bytes of all files that they were made from
  std::uint64_t entries_checksum = 0;
  std::uint64_t labels_checksum = 0;
  std::uint64_t names_checksum = 0;
  std::uint64_t classes_checksum = 0;
  std::uint64_t shards_checksum = 0;
  std::array<std::uint64_t, 3> reserved = {};
  std::uint64_t checksum = 0;
};

/// Where a sample lies.
struct TableEntry {
  std::uint64_t offset = 0;  // of its record in the shard
  std::uint64_t size = 0;    // of the payload
  std::uint64_t source_size = 0;
  std::uint64_t name_offset = 0;  // in the table's names
  std::uint32_t head_size = 0;
  std::uint32_t shard = 0;
  std::int32_t label = 0;
  std::uint16_t name_size = 0;
  std::uint8_t kind = 0;
  std::uint8_t flags = 0;
  std::uint32_t payload_start = 0;  // from the record's start to the payload
  std::uint32_t name_checksum = 0;  // low half of the name's XXH3
  std::uint64_t checksum = 0;
};

/// One shard in a table; its file's name follows, empty in the shard's own table.
struct ShardListing {
  std::uint64_t records_end = 0;  // where its records end and its table begins
  std::uint64_t first_sample = 0;
  std::uint64_t samples = 0;
  std::uint64_t header_checksum = 0;  // that of its ShardHeader
  std::uint64_t name_size = 0;
};

/// The last bytes of a finished shard, and of a set's index.
struct Trailer {
  Magic magic = kTrailerMagic;
  std::uint32_t version = kShardVersion;
  std::uint32_t reserved = 0;
  std::uint64_t table_offset = 0;
  std::uint64_t table_size = 0;
  std::uint64_t file_size = 0;
  std::array<std::uint64_t, 2> reserved_too = {};
  std::uint64_t checksum = 0;
};

static_assert(sizeof(ShardHeader) == 64);
static_assert(sizeof(RecordHeader) == 88);
static_assert(sizeof(TableHeader) == 192);
static_assert(sizeof(TableEntry) == 64);
static_assert(sizeof(ShardListing) == 40);
static_assert(sizeof(Trailer) == 64);

constexpr std::uint64_t align_up(std::uint64_t offset) {
  return (offset + kShardAlignment - 1) / kShardAlignment * kShardAlignment;
}

}  // namespace unstarve::feed
