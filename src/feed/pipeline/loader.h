#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "feed/batch/batch_pool.h"
#include "feed/cache/cache_stats.h"
#include "feed/data/loader_options.h"
#include "feed/data/sample_source.h"
#include "feed/pipeline/control/controller.h"
#include "feed/pipeline/loader_parts.h"
#include "feed/pipeline/loader_state.h"
#include "feed/pipeline/loader_stats.h"
#include "feed/pipeline/loading/quarantine.h"
#include "feed/pipeline/window/batch_window.h"

namespace unstarve::feed {

/// Loads batches of images with its own threads, ahead of the consumer, in an order and with
/// random draws that depend on (seed, epoch, index) alone.
///
///   Result<std::unique_ptr<Loader>> loader = Loader::open(options);
///   (*loader)->begin_epoch(0);
///   for (;;) { Result<NextBatch> next = (*loader)->next(100ms); ... }
///
/// Thread rule: any thread; several consumers share the batches. Destroying it at any time is safe;
/// batches handed out stay valid. Threads start with the first epoch. A forked child has none of
/// them: there, calls fail with kNotSupported, and those that cannot fail are not allowed.
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

  /// kNotSupported in a forked child, where locks may be held by threads that are not there.
  Status check_process() const;

  /// Begins an epoch in the order that seed and epoch give; where restore() said that the consumer
  /// is in the middle of it, from there on. May interrupt an epoch.
  Status begin_epoch(std::uint32_t epoch);
  /// Begins an epoch whose batches come from submit_batch(), in the order of the calls.
  Status begin_submitted_epoch(std::uint32_t epoch);
  /// One more batch, of any size. It never waits: submit as many as wanted_batches() says before
  /// each next(). Indices may repeat; see SubmittedOrder.
  Status submit_batch(std::span<const std::uint64_t> indices);
  /// What was consumed before the state was saved, of any length, so that repeats are counted as
  /// then.
  Status skip_batch(std::span<const std::uint64_t> indices);
  Status finish_submitting();
  std::uint64_t wanted_batches() const;
  /// See BatchWindow::next().
  Result<NextBatch> next(std::chrono::nanoseconds at_most);
  /// With OnError::kReport: see BatchWindow::take_failed().
  std::vector<FailedRow> take_failed();

  /// Ends the threads and gives back the memory of what lies ready; next() starts them again, and
  /// its batches are the same. Nothing happens while a consumer waits for a batch.
  void rest();
  /// False: a batch is begun only when a consumer has asked for it. To begin with, true.
  void set_reads_ahead(bool reads_ahead);

  /// Where the consumer is: of what lies ready nothing counts. After the last batch of an epoch it
  /// is the begin of the next. Any thread, any time.
  LoaderState state() const;
  /// Ends the epoch under way; the next begin_epoch() of the state's epoch goes on where the state
  /// says. kInvalidArgument when it belongs to another data set, seed or order.
  Status restore(const LoaderState& state);

  std::uint64_t sample_count() const;
  /// Batches of a whole epoch on this rank, the same on every rank; fewer come out if all samples
  /// of one are left out.
  std::uint64_t batch_count() const;
  const std::vector<std::string>& classes() const;
  /// See SampleSource.
  std::vector<std::string> left_out() const;
  const LoaderOptions& options() const;
  /// Threads at work now; those that a controller has put aside do not count, and at rest none.
  int thread_count() const;
  /// What the controller has changed, and why; empty where both numbers were given.
  std::vector<ControlMove> explain() const;
  LoaderStats stats() const;
  /// Of the cache that LoaderOptions::cache_dir asks for.
  CacheStats cache_stats() const;
  /// The first thousand of them; LoaderStats::failed counts all.
  std::vector<SampleFailure> failures() const;

 private:
  struct Impl;
  explicit Loader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace unstarve::feed
