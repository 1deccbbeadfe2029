#pragma once

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "feed/cache/cached_source.h"
#include "feed/pipeline/control/consumer_times.h"
#include "feed/pipeline/control/live_control.h"
#include "feed/pipeline/control/thread_gate.h"
#include "feed/pipeline/loader.h"
#include "feed/pipeline/loading/loader_counters.h"
#include "feed/pipeline/loading/ticket_runner.h"
#include "feed/pipeline/window/epoch_post.h"

namespace unstarve::feed {

/// What a Loader is made of: loader.cpp has what its user asks for, loader_threads.cpp what its
/// threads do and how the controller reaches them.
struct Loader::Impl {
  LoaderOptions options;
  LoaderParts parts;
  std::shared_ptr<SampleSource> source;
  std::shared_ptr<CachedSource> cache;  // the source itself, or none
  std::string no_cache;                 // why none, where one was asked for
  std::shared_ptr<BatchPool> pool;
  int most_ahead = 1;         // batches that the memory holds beside the consumer's
  std::atomic<int> ahead{1};  // of them: to be used now
  mutable Mutex mutex;
  std::shared_ptr<BatchWindow> window UNSTARVE_GUARDED_BY(mutex);    // of the consumer's epoch
  LoaderState resume UNSTARVE_GUARDED_BY(mutex);                     // where no window is
  bool restored UNSTARVE_GUARDED_BY(mutex) = false;                  // by restore(), no epoch since
  std::int64_t past_threads_wait_ns UNSTARVE_GUARDED_BY(mutex) = 0;  // of the windows before
  std::int64_t past_consumer_wait_ns UNSTARVE_GUARDED_BY(mutex) = 0;
  LoaderCounters counters;
  Quarantine quarantine;
  EpochPost post;
  ConsumerTimes consumers;
  std::unique_ptr<LiveControl> control;
  std::unique_ptr<ThreadGate> gate;
  std::atomic<pid_t> owner{0};  // the process that has the threads
  std::atomic<bool> reads_ahead{true};
  std::atomic<bool> resting{false};  // written with start_mutex held
  std::atomic<int> asking{0};        // consumers in next()
  Mutex rest_mutex;                  // held by rest(), before start_mutex
  Mutex start_mutex;                 // held while an epoch begins or threads start
  bool closing UNSTARVE_GUARDED_BY(start_mutex) = false;
  // Last: they use all of the above.
  std::vector<std::jthread> threads UNSTARVE_GUARDED_BY(start_mutex);
  // Decides for the loader and starts its threads, so that the training thread need not.
  std::jthread control_thread UNSTARVE_GUARDED_BY(start_mutex);

  void set_up_control();
  /// Puts the cache that the options ask for before the source.
  Status set_up_cache();
  /// Starts loading threads until there are `count`.
  Status start_threads(int count) noexcept UNSTARVE_REQUIRES(start_mutex);
  Status start_thread() UNSTARVE_REQUIRES(start_mutex);
  void rest() UNSTARVE_EXCLUDES(rest_mutex, start_mutex);
  /// Ends rest().
  Status wake() UNSTARVE_EXCLUDES(start_mutex);
  /// Without it the loader goes on as it began, and explain() says so.
  void start_control() noexcept UNSTARVE_REQUIRES(start_mutex);
  Status check_process() const;
  LoaderState::Order generated_kind() const;
  /// Where an epoch begins: where restore() said, or at its first sample.
  EpochPosition start_of(std::uint32_t epoch, LoaderState::Order order) UNSTARVE_EXCLUDES(mutex);
  /// Ends the epoch under way and begins that of `order`.
  Status begin(std::unique_ptr<BatchOrder> order, const EpochPosition& start,
               LoaderState::Order kind) UNSTARVE_REQUIRES(start_mutex);
  /// Ends the epoch under way, if there is one, and makes `next` the consumer's.
  void replace_window(std::shared_ptr<BatchWindow> next) UNSTARVE_EXCLUDES(mutex);
  std::shared_ptr<BatchWindow> current_window() const UNSTARVE_EXCLUDES(mutex);
  Result<std::shared_ptr<BatchWindow>> submitted_window() const UNSTARVE_EXCLUDES(mutex);
  void run_thread(TicketRunner& runner, int number, const std::stop_token& stop);
  Result<NextBatch> next(std::chrono::nanoseconds at_most) UNSTARVE_EXCLUDES(start_mutex);
  Result<NextBatch> next(BatchWindow& current, std::chrono::nanoseconds at_most);
  /// Tells the controller what happened, when it is time to.
  void measure_when_due() UNSTARVE_EXCLUDES(mutex);
  void run_control(const std::stop_token& stop) UNSTARVE_EXCLUDES(mutex, start_mutex);
  void control_with(const ControlSample& sample) UNSTARVE_EXCLUDES(mutex, start_mutex);
  ControlTotals totals() const UNSTARVE_EXCLUDES(mutex);
};

}  // namespace unstarve::feed
