#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/io/files.h"
#include "base/result.h"
#include "feed/pack/pack_input.h"
#include "feed/shard/shard_files.h"

namespace unstarve::feed {

struct VerifyTask {
  std::shared_ptr<io::Files> storage;
  std::string folder;
  std::uint32_t shards = 0;  // finished ones, from number 0 on
  int threads = 1;
};

/// Reads every byte of the shards back, from the disk where the system lets it, and checks all
/// checksums, the order, the names and the labels. `on_sample` is called by the calling thread
/// with the number of samples checked so far. The first error names the shard and the sample.
Status verify_shards(const VerifyTask& task, const PackInput& input,
                     const std::function<void(std::uint64_t)>& on_sample);

}  // namespace unstarve::feed
