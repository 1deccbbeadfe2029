#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/io/files.h"
#include "base/result.h"
#include "feed/shard/format.h"
#include "feed/shard/shard_files.h"

namespace unstarve::feed {

inline std::span<const std::byte> bytes_of_text(std::string_view text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

/// A sample on its way into a shard.
struct ShardSample {
  PayloadKind kind = PayloadKind::kBytes;
  bool keep_original = false;  // `original` is kept beside the payload
  std::uint64_t index = 0;     // in its data set
  std::int32_t label = 0;
  std::uint32_t head_size = 0;  // kCoefficients
  std::string_view name;        // path below the data set's root
  std::span<const std::byte> meta = {};
  std::span<const std::byte> payload = {};
  std::span<const std::byte> original = {};
  std::uint64_t source_size = 0;  // that of `original`, where it is kept
  std::int64_t source_mtime_ns = 0;
};

/// Where the parts of a record lie, from its start on.
struct RecordExtent {
  std::uint64_t payload = 0;
  std::uint64_t original = 0;  // where the payload, padded, ends
  std::uint64_t end = 0;       // where the next record begins
};

/// A whole record whose bytes are in memory.
struct RecordView {
  RecordHeader header;
  std::string_view name;
  std::span<const std::byte> meta;
  std::span<const std::byte> payload;
  std::span<const std::byte> original;  // empty where it is not kept
};

/// kInvalidArgument when the sample cannot be put into a record.
Status check_sample(const ShardSample& sample);

/// The record's bytes up to where the payload begins; it and the original bytes follow, each padded
/// with zeros to a multiple of 64. The sample must be one that check_sample() accepts.
void encode_record_start(const ShardSample& sample, std::vector<std::byte>& start);
/// The record's bytes, padding included. The sample must be one that check_sample() accepts.
void encode_record(const ShardSample& sample, std::vector<std::byte>& record);

/// Checks a header that was read with `available` bytes of its file left from its start on.
Result<RecordExtent> check_header(const RecordHeader& header, std::uint64_t available);

/// Checks all checksums of a record of which `bytes` is the beginning, up to the end of the
/// payload at least. The original is checked when it is in `bytes`.
Result<RecordView> parse_record(std::span<const std::byte> bytes);

/// Whether a record is the one that `entry` describes: sample `index` of its data set.
Status check_record(const RecordHeader& header, const TableEntry& entry, std::uint64_t index);

/// The head of the payload of sample `index`, checked, from its record's bytes up to the head's
/// end. What a head says of the rest of its payload can be trusted: checksums, for coefficients.
Result<std::span<const std::byte>> parse_record_head(std::span<const std::byte> bytes,
                                                     const TableEntry& entry, std::uint64_t index);

/// Reads and checks the whole record at `offset`. Valid until `buffer` changes.
Result<RecordView> read_record(io::Files& storage, int file, std::uint64_t offset,
                               std::vector<std::byte>& buffer);

/// Hands every whole record from the shard's header on to `visit`, with its offset, and returns
/// where the last one ends. A record that is cut off or damaged ends the scan; only a failing
/// disk, or `visit`, is an error.
using RecordVisitor = std::function<Status(std::uint64_t offset, const RecordView& record)>;
Result<std::uint64_t> scan_records(io::Files& storage, int file, const RecordVisitor& visit);

/// The table's entry for a record at `offset`; `name_offset`, `shard` and the seal are left.
TableEntry entry_of(const RecordHeader& header, std::uint64_t offset, std::string_view name);

}  // namespace unstarve::feed
