#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "feed/pipeline/loader.h"

namespace unstarve::examine {

struct LoaderBenchOptions {
  std::string source;           // a folder of images, or of shards
  std::string task = "rrc224";  // or eval224
  int threads = 1;
  int batch_size = 64;
  double seconds = 3;
  std::string simd;          // empty: the best that the CPU has
  bool first_batch = false;  // stop after it
  bool cold = false;         // each epoch begins with no file in the page cache
  bool no_read_ahead = false;
};

struct LoaderBenchResult {
  std::uint64_t images = 0;
  double wall_s = 0;  // of the epochs that count
  double cpu_s = 0;   // user and system time of this process in them
  std::uint64_t bytes = 0;
  double first_batch_s = 0;
  std::int64_t peak_rss_bytes = 0;
  feed::LoaderStats stats;
};

/// Loads whole epochs with unstarve's loader for at least `seconds`, after one that does not count.
/// Errors: what the loader says; kInvalidArgument for a task or SIMD level that there is not.
Result<LoaderBenchResult> run_loader_bench(const LoaderBenchOptions& options);

}  // namespace unstarve::examine
