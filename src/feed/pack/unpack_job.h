#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/io/files.h"
#include "base/result.h"
#include "feed/shard/shard_files.h"

namespace unstarve::feed {

struct UnpackOptions {
  std::string source;  // a folder of shards, or one shard
  std::string target;  // the folder for the files; files of the same names are replaced
  int threads = 0;     // 0: as many as the process may use CPUs
};

struct UnpackSummary {
  std::uint64_t samples = 0;
  std::uint64_t identical = 0;    // files that are what was packed, byte by byte
  std::uint64_t same_pixels = 0;  // JPEGs made anew, with the same coefficients and markers
  std::uint64_t bytes = 0;        // of all files
};

/// Gives back the files that were packed, under the names that they had. Each is written beside its
/// place and renamed, so that a killed job leaves no half of one, and can simply be repeated.
/// `on_progress(done, total)` is called by the calling thread.
Result<UnpackSummary> unpack_shards(
    const UnpackOptions& options,
    const std::function<void(std::uint64_t done, std::uint64_t total)>& on_progress,
    const std::shared_ptr<io::Files>& storage = io::plain_files());

/// Whether a name from a shard stays below the folder that it is unpacked to.
bool is_safe_name(std::string_view name);

}  // namespace unstarve::feed
