#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "roofline/roofs/machine.h"
#include "roofline/roofs/session.h"

namespace unstarve::roofline {

struct DiskOptions {
  std::string folder = ".";               // on the disk that is measured
  std::uint64_t most_bytes = 1ULL << 30;  // of the scratch file
};

/// What is read, and how.
struct ReadPattern {
  std::string name;  // "disk.random_4k"
  std::uint64_t block_bytes = 0;
  bool random = false;
  int depth = 1;
  std::uint64_t extent_bytes = 0;  // of the file, from its beginning
  bool uncached = false;           // the page cache is to forget what was read
};

/// Bytes that `pattern.depth` threads read in a second of a file that is open for it, in windows.
/// Errors: of the first read that failed.
Result<std::vector<double>> read_rates(int file, const ReadPattern& pattern,
                                       std::int64_t duration_ns, Session& session);

/// The roofs `page_cache.read.N_threads`: reads of a file that is in memory.
/// And of the disk, past the page cache: `disk.sequential.depth_N`, `disk.random_4k.depth_N` and
/// `disk.random_128k.depth_N`, as bytes a second, where N threads have a read under way each.
/// Where the file system has no O_DIRECT, what was read is taken out of the page cache again, which
/// is among the conditions. A folder in memory has no disk: it is absent, with the reason.
void measure_disk(const Machine& machine, const DiskOptions& options, std::int64_t duration_ns,
                  Session& session);

}  // namespace unstarve::roofline
