#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/io/files.h"
#include "base/result.h"
#include "base/unique_handle.h"
#include "feed/shard/format.h"
#include "feed/shard/shard_files.h"

namespace unstarve::feed {

/// Where the sections of a table begin, from the table's start on.
struct TableLayout {
  std::uint64_t entries = 0;
  std::uint64_t labels = 0;
  std::uint64_t names = 0;
  std::uint64_t classes = 0;
  std::uint64_t shards = 0;
  std::uint64_t end = 0;
};
TableLayout layout_of(const TableHeader& header);

/// The part of a table that describes one shard. Names follow one another in `names`; where they
/// begin, the shard's number and the seals are set as a table is written.
struct TablePiece {
  std::vector<TableEntry> entries;
  std::string names;
};

/// One shard of a set.
struct ShardPlace {
  std::string name;  // of its file; empty for a shard that stands alone
  ShardListing listing;
};

/// The samples of one shard or of a set, with their places. Entries and names are read as they
/// are asked for, each checked on its own; only labels, classes and the list of shards are kept in
/// memory, so that a million samples open in milliseconds.
/// Thread rule: any thread.
class SampleTable {
 public:
  /// The table at the end of a file, as its trailer says. kNotFound when the file has no trailer.
  static Result<SampleTable> open(std::shared_ptr<io::Files> storage,
                                  std::shared_ptr<const FileDescriptor> file);
  /// The table of a shard that is not finished, from its whole records.
  static Result<SampleTable> scan(std::shared_ptr<io::Files> storage,
                                  std::shared_ptr<const FileDescriptor> file);

  std::uint64_t size() const { return header_.samples; }
  const TableHeader& header() const { return header_; }
  std::int32_t label(std::uint64_t index) const { return labels_.empty() ? 0 : labels_[index]; }
  const std::vector<std::string>& classes() const { return classes_; }
  const std::vector<ShardPlace>& shards() const { return shards_; }
  /// Where the table begins in its file: the end of a shard's records.
  std::uint64_t offset() const { return offset_; }

  /// Checked against its checksum, its label and its shard's size.
  Result<TableEntry> entry(std::uint64_t index) const;
  Result<std::string> name(const TableEntry& entry) const;
  /// All entries and names, for who copies a table; checked by their sections' checksums.
  Result<TablePiece> piece() const;
  /// Reads the whole table and checks every section.
  Status verify() const;

 private:
  SampleTable(std::shared_ptr<io::Files> storage, std::shared_ptr<const FileDescriptor> file)
      : storage_(std::move(storage)), file_(std::move(file)) {}
  Status open_sections(const Trailer& trailer);
  Status read_labels();
  Status read_classes();
  Status read_shards();
  Result<std::vector<std::byte>> read_section(std::uint64_t offset, std::uint64_t size,
                                              std::uint64_t checksum) const;
  Status verify_section(std::uint64_t offset, std::uint64_t size, std::uint64_t checksum) const;

  std::shared_ptr<io::Files> storage_;          // shared with whoever opened the table
  std::shared_ptr<const FileDescriptor> file_;  // and, for a shard, with those who read samples
  TableHeader header_;
  TableLayout layout_;
  std::uint64_t offset_ = 0;
  std::vector<std::int32_t> labels_;  // empty: all 0
  std::vector<std::string> classes_;
  std::vector<ShardPlace> shards_;
  // Of a shard that is not finished, whose table is not in the file.
  std::optional<TablePiece> scanned_;
};

}  // namespace unstarve::feed
