#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "feed/batch/batch_pool.h"
#include "feed/data/loader_options.h"
#include "feed/data/sample_source.h"
#include "feed/pipeline/batch_window.h"
#include "feed/source/file_reader.h"

namespace unstarve::feed {

/// Starts threads. A seam: the fault tests fail the n-th.
class ThreadStarter {
 public:
  virtual ~ThreadStarter() = default;
  virtual Result<std::jthread> start(std::function<void(std::stop_token)> body);
};

/// What a loader stands on; the defaults are the real things. All must outlive the loader.
struct LoaderParts {
  std::shared_ptr<FileReader> reader;
  std::shared_ptr<SlotMemory> memory;
  std::shared_ptr<ThreadStarter> threads;
  std::shared_ptr<Clock> clock;
  static LoaderParts real();
};

/// Sums since the loader was opened. Times are ns, added up over all threads.
struct LoaderStats {
  std::uint64_t images = 0;      // decoded and handed to a batch
  std::uint64_t batches = 0;     // delivered
  std::uint64_t bytes_read = 0;  // of image files
  std::int64_t read_ns = 0;
  std::int64_t decode_ns = 0;
  std::int64_t resize_ns = 0;
  std::int64_t threads_wait_ns = 0;   // loading threads waited for the consumer
  std::int64_t consumer_wait_ns = 0;  // the consumer waited for a batch
  std::uint64_t failed = 0;           // samples that could not be loaded
  std::uint64_t replaced = 0;         // of these: another took the place
  std::uint64_t left_out = 0;         // of these: skipped
  std::uint64_t slots_allocated = 0;
  int threads = 0;
};

/// One sample that could not be loaded.
struct SampleFailure {
  std::uint32_t index = 0;
  std::uint32_t epoch = 0;
  std::string message;  // names the file
};

/// Loads batches of images with its own threads, ahead of the consumer, in an order and with
/// random draws that depend on (seed, epoch, index) alone.
///
///   Result<std::unique_ptr<Loader>> loader = Loader::open(options);
///   (*loader)->begin_epoch(0);
///   for (;;) { Result<NextBatch> next = (*loader)->next(100ms); ... }
///
/// Thread rule: one consumer. begin_epoch() may interrupt an epoch. Destroying it at any time is
/// safe; batches handed out stay valid. Threads start with the first epoch. A forked child has
/// none of them: there, calls fail with kNotSupported.
class Loader {
 public:
  /// Reads what `options.root` names: see open_source().
  static Result<std::unique_ptr<Loader>> open(const LoaderOptions& options,
                                              const LoaderParts& parts = LoaderParts::real());
  /// Reads from `source`; the root plays no part. The loader keeps the source as long as it lives.
  static Result<std::unique_ptr<Loader>> open(const LoaderOptions& options,
                                              std::shared_ptr<SampleSource> source,
                                              const LoaderParts& parts = LoaderParts::real());
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;
  ~Loader();

  Status begin_epoch(std::uint32_t epoch);
  /// See BatchWindow::next().
  Result<NextBatch> next(std::chrono::nanoseconds at_most);

  std::uint64_t sample_count() const;
  /// Batches of an epoch; fewer come out if all samples of one are left out.
  std::uint64_t batch_count() const;
  const std::vector<std::string>& classes() const;
  const LoaderOptions& options() const;
  int thread_count() const;
  LoaderStats stats() const;
  /// The first thousand of them; LoaderStats::failed counts all.
  std::vector<SampleFailure> failures() const;

 private:
  struct Impl;
  explicit Loader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// CPUs that this process may use: affinity, cpuset and quota, at least 1.
int usable_cpu_count();

}  // namespace unstarve::feed
