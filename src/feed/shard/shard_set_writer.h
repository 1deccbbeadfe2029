#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/io/files.h"
#include "base/result.h"
#include "base/unique_handle.h"
#include "feed/shard/shard_writer.h"

namespace unstarve::feed {

/// The file in a folder of shards that says that the set is whole, and where its samples lie.
constexpr const char* kIndexName = "index.usi";

std::string shard_path(const std::string& folder, std::uint32_t ordinal);

/// What a set is. Equal options and samples give equal files, however often it was interrupted.
struct ShardSetOptions {
  std::string folder;
  std::uint64_t set_id = 0;                            // a digest of what is packed and how
  std::uint64_t shard_bytes = std::uint64_t{1} << 30;  // a shard is closed before it gets larger
  std::vector<std::string> classes;
};

/// Writes a folder of shards: samples in order, then finish(), which makes the set readable.
/// Thread rule: one at a time; a second writer of the same folder, in any process, is refused.
class ShardSetWriter {
 public:
  /// Makes the folder, or goes on with what lies in it. Errors: a set of other options or samples.
  static Result<ShardSetWriter> open(std::shared_ptr<io::Files> storage, ShardSetOptions options);

  /// Samples that are in the set; the next to be appended has this index.
  std::uint64_t samples() const;
  std::uint32_t shards() const { return ordinal_ + (current_ ? 1 : 0); }
  /// finish() has been called, now or in an earlier run.
  bool is_whole() const { return whole_; }

  Status append(const ShardSample& sample);
  /// Ends the last shard; nothing can be appended from then on.
  Status finish_shards();
  /// The same, and the index, which makes the set whole.
  Status finish();

 private:
  ShardSetWriter(std::shared_ptr<io::Files> storage, ShardSetOptions options)
      : storage_(std::move(storage)), options_(std::move(options)) {}
  Status lock_folder();
  Status find_shards();
  Result<bool> take_finished(const std::string& path);
  Status finish_current();
  Result<SampleTable> open_table(const std::string& path);
  Status add_to_plan(TablePlan& plan, std::uint32_t ordinal);
  Status write_index();

  std::shared_ptr<io::Files> storage_;  // shared with the shards
  ShardSetOptions options_;
  FileDescriptor lock_;
  std::uint32_t ordinal_ = 0;   // of the current shard
  std::uint64_t finished_ = 0;  // samples in the shards before it
  std::optional<ShardWriter> current_;
  bool whole_ = false;
};

}  // namespace unstarve::feed
