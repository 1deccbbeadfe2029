#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/io/files.h"
#include "base/result.h"
#include "base/unique_handle.h"
#include "feed/shard/record.h"
#include "feed/shard/shard_files.h"
#include "feed/shard/table_writer.h"

namespace unstarve::feed {

/// Appends samples to one shard. Every record stands on its own feet, so that a kill at any moment
/// leaves whole records and at most one that is cut off, which open() cuts away.
/// Thread rule: one at a time.
class ShardWriter {
 public:
  /// Makes the file, or goes on after the last whole record of one that `header` describes.
  /// Of a shard that is finished the table is cut away as well.
  static Result<ShardWriter> open(std::shared_ptr<io::Files> storage, const std::string& path,
                                  const ShardHeader& header);

  /// After an error the shard can only be opened again.
  Status append(const ShardSample& sample);
  /// The table, the trailer, and everything to the disk.
  Status finish(const std::vector<std::string>& classes);

  std::uint64_t samples() const { return piece_.entries.size(); }
  /// Of the file, without the table to come.
  std::uint64_t bytes() const { return end_; }
  const ShardHeader& header() const { return header_; }
  const std::string& path() const { return path_; }

 private:
  ShardWriter(std::shared_ptr<io::Files> storage, FileDescriptor file, std::string path);
  Status begin(const ShardHeader& header);
  Status go_on();
  void add_entry(const RecordHeader& header, std::uint64_t offset, std::string_view name);

  std::shared_ptr<io::Files> storage_;  // shared with the other shards of the set
  FileDescriptor file_;
  std::string path_;
  ShardHeader header_;
  std::uint64_t end_ = 0;
  bool has_labels_ = false;
  TablePiece piece_;
  std::vector<std::byte> record_;
};

/// A header with its seal.
ShardHeader make_shard_header(std::uint64_t set_id, std::uint32_t ordinal,
                              std::uint64_t first_sample);

/// The header of a shard. kCorruptData when it is damaged or not there.
Result<ShardHeader> read_shard_header(io::Files& storage, int file);

}  // namespace unstarve::feed
