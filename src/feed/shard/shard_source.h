#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/io/files.h"
#include "base/result.h"
#include "feed/data/sample_source.h"
#include "feed/shard/open_shards.h"
#include "feed/shard/record.h"
#include "feed/shard/sample_table.h"
#include "feed/shard/shard_files.h"

namespace unstarve::feed {

/// Samples from a folder of shards, or from one shard, finished or not.
///
///   Result<std::unique_ptr<ShardSource>> source = ShardSource::open("/data/imagenet-shards");
///   auto reader = (*source)->open_reader();
///   Result<EncodedSample> sample = (*reader)->read(17);
///
/// Samples are read by pread, so that a file that shrinks meanwhile is an error. Whole payloads are
/// checked against their checksum; those of coefficients carry checksums of their parts, which
/// their decoder checks.
class ShardSource final : public SampleSource {
 public:
  static Result<std::unique_ptr<ShardSource>> open(
      const std::string& path, std::shared_ptr<io::Files> storage = io::plain_files());
  /// Whether open() is the way to read what is at `path`, going by names alone.
  static bool is_shards(const std::string& path);

  std::uint64_t size() const override { return table_.size(); }
  std::int64_t label(std::uint64_t index) const override { return table_.label(index); }
  const std::vector<std::string>& classes() const override { return table_.classes(); }
  std::string locate(std::uint64_t index) const override;
  std::uint64_t fingerprint() const override { return table_.header().checksum; }
  Result<std::unique_ptr<SampleReader>> open_reader() override;

  /// False for a shard that was never finished or that is cut off: it holds an unknown number of
  /// samples more.
  bool finished() const { return finished_; }
  const SampleTable& table() const { return table_; }
  /// The whole record of a sample, with all its checksums checked. Valid until `buffer` changes.
  Result<RecordView> read_whole(std::uint64_t index, std::vector<std::byte>& buffer);

 private:
  ShardSource(std::shared_ptr<io::Files> storage, SampleTable table, OpenShards shards)
      : storage_(std::move(storage)), table_(std::move(table)), shards_(std::move(shards)) {}

  std::shared_ptr<io::Files> storage_;  // shared with the table and the shards
  SampleTable table_;
  OpenShards shards_;
  std::uint64_t first_sample_ = 0;  // of a shard that stands alone, in its set
  bool finished_ = true;
};

}  // namespace unstarve::feed
