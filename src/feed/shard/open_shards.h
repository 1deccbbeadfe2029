#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/io/files.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/unique_handle.h"
#include "feed/shard/sample_table.h"
#include "feed/shard/shard_files.h"

namespace unstarve::feed {

/// The files of a set's shards: opened when first asked for and, beyond a bound, closed again, so
/// that ten thousand shards do not need ten thousand descriptors.
/// Thread rule: any thread.
class OpenShards {
 public:
  static constexpr std::size_t kOpenMax = 128;

  OpenShards(std::shared_ptr<io::Files> storage, std::string folder,
             std::vector<ShardPlace> places);
  /// A shard that stands alone.
  OpenShards(std::string path, std::shared_ptr<const FileDescriptor> file);
  OpenShards(OpenShards&& other) noexcept;
  ~OpenShards();

  /// Errors name the file: it is not there, it is another, it is shorter than its records.
  Result<std::shared_ptr<const FileDescriptor>> open(std::uint32_t shard);
  std::string path(std::uint32_t shard) const;

 private:
  struct State;
  std::shared_ptr<io::Files> storage_;
  std::string folder_;
  std::vector<ShardPlace> places_;  // empty: `folder_` is the shard's path
  std::unique_ptr<State> state_;
};

}  // namespace unstarve::feed
