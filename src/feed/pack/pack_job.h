#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/io/files.h"
#include "base/result.h"
#include "feed/pack/pack_input.h"
#include "feed/shard/shard_files.h"
#include "feed/shard/shard_set_writer.h"

namespace unstarve::feed {

struct PackOptions {
  std::string source;                // a folder of images
  std::string target;                // the folder of shards
  int threads = 0;                   // 0: as many as the process may use CPUs
  bool keep_original_bytes = false;  // beside coefficients, so that unpacking gives the same files
  std::uint64_t shard_bytes = std::uint64_t{1} << 30;
};

/// What a job stands on; the defaults are the real things.
struct PackParts {
  std::shared_ptr<io::Files> files;    // that samples are read from
  std::shared_ptr<io::Files> storage;  // that shards are written to
  std::shared_ptr<Clock> clock;
  static PackParts real();
};

/// What packing some samples says of packing all.
struct PackEstimate {
  std::uint64_t samples = 0;
  std::uint64_t packed_before = 0;  // by a run that was interrupted
  std::uint64_t tried = 0;          // samples that the numbers below come from
  double source_bytes = 0;          // of all samples
  double shard_bytes = 0;           // of all samples
  double images_per_s = 0;          // with all threads, if each has a CPU
  double seconds = 0;               // for what is left
  std::uint64_t left_out = 0;       // files that are no images
  int threads = 0;
};

enum class PackPhase { kPacking, kVerifying };

struct PackProgress {
  PackPhase phase = PackPhase::kPacking;
  std::uint64_t done = 0;
  std::uint64_t total = 0;
  double images_per_s = 0;  // since the phase began
};

struct PackSummary {
  std::uint64_t samples = 0;
  std::uint64_t packed_now = 0;    // the others were packed before
  std::uint64_t coefficients = 0;  // the others were kept as their bytes
  std::uint64_t source_bytes = 0;
  std::uint64_t shard_bytes = 0;  // of all files in the target
  std::uint64_t shards = 0;
  double seconds = 0;
  /// Why files were kept as their bytes, of those packed now, with how many and one of them.
  struct Reason {
    std::uint64_t count = 0;
    std::string example;
  };
  std::map<std::string, Reason> kept_as_bytes;
  /// Names of files that cannot be decoded by anything here; the first hundred.
  std::vector<std::string> cannot_be_decoded;
};

/// Packs a folder of images into shards: in parallel, in order, with memory in bounds. A job that
/// was killed goes on when it is run again with the same options, and ends with the same bytes.
///
///   Result<PackJob> job = PackJob::open(options);
///   Result<PackEstimate> estimate = job->estimate();
///   Result<PackSummary> summary = job->run([](const PackProgress&) {});
///
/// Thread rule: one thread; it starts others inside of run().
class PackJob {
 public:
  using OnProgress = std::function<void(const PackProgress&)>;

  /// Lists the source and looks at what the target holds.
  static Result<PackJob> open(const PackOptions& options,
                              const PackParts& parts = PackParts::real());

  /// Packs some samples, spread over the source, and throws the result away.
  Result<PackEstimate> estimate();
  /// Packs what is missing, reads everything back and checks it, and writes the index last.
  Result<PackSummary> run(const OnProgress& on_progress);

 private:
  PackJob(PackOptions options, PackParts parts, std::unique_ptr<PackInput> input,
          ShardSetWriter writer);
  Status pack_missing(const OnProgress& on_progress, PackSummary& summary);
  Status append_all(class PackWindow& window, const OnProgress& on_progress, PackSummary& summary);
  Status verify(const OnProgress& on_progress);
  Status summarize(PackSummary& summary);
  double seconds() const { return 1e-9 * static_cast<double>(parts_.clock->now_ns()); }

  PackOptions options_;
  PackParts parts_;
  std::unique_ptr<PackInput> input_;
  ShardSetWriter writer_;
};

}  // namespace unstarve::feed
