#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/io/files.h"
#include "base/result.h"
#include "feed/shard/format.h"
#include "feed/shard/sample_table.h"
#include "feed/shard/shard_files.h"

namespace unstarve::feed {

struct TablePlan {
  std::uint64_t set_id = 0;
  std::uint64_t names_size = 0;  // of all pieces
  bool has_labels = false;       // a label of some sample is not 0
  std::vector<std::string> classes;
  std::vector<ShardPlace> shards;
  /// The piece of shards[number]; asked for in order, so that only one is in memory.
  std::function<Result<TablePiece>(std::size_t number)> piece;
};

/// Writes the table and the trailer from `offset` of the file on, to the disk as well.
Status write_table(io::Files& storage, int file, std::uint64_t offset, const TablePlan& plan);

}  // namespace unstarve::feed
