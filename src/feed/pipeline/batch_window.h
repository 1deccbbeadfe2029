#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "feed/batch/batch_pool.h"

namespace unstarve::feed {

/// One sample to load: where it comes from and where it goes.
struct Ticket {
  std::uint32_t index = 0;  // in the data set
  std::uint64_t batch = 0;  // in the epoch
  int row = 0;              // in the batch
  std::uint8_t* image = nullptr;
  std::int64_t* label = nullptr;
};

enum class NextState {
  kBatch,    // a batch is handed over
  kEnd,      // the epoch is over
  kTimeout,  // nothing yet: ask again
};

struct NextBatch {
  NextState state = NextState::kEnd;
  std::optional<HostBatch> batch;  // only with kBatch
};

/// One epoch on its way from the loading threads to the consumer: samples are claimed in order by
/// any thread, batches come out in order. Claims stay at most `ahead` batches in front of the
/// consumer. It is not a queue because samples finish out of order: a slow one holds back only its
/// own batch, while the threads go on with those behind it.
/// Thread rule: claim() and finish() from any thread, next() from the consumer, cancel() from any.
class BatchWindow {
 public:
  struct Setup {
    std::vector<std::uint32_t> order;  // the samples of the epoch
    bool drop_last = false;
    std::uint64_t ahead = 1;
    std::shared_ptr<BatchPool> pool;
    const Clock& clock;
  };
  explicit BatchWindow(Setup setup);

  std::uint64_t batch_count() const { return batch_count_; }

  /// Waits while the window is full. Nothing: all is claimed, cancelled, failed or stopped.
  std::optional<Ticket> claim(const std::stop_token& stop) UNSTARVE_EXCLUDES(mutex_);
  /// The claimed sample is written; or left out of its batch; or makes its batch an error.
  enum class Outcome { kLoaded, kLeftOut };
  void finish(const Ticket& ticket, Outcome outcome) UNSTARVE_EXCLUDES(mutex_);
  void finish(const Ticket& ticket, Error error) UNSTARVE_EXCLUDES(mutex_);

  /// The next batch in order; waits for it up to `at_most`. After an error every further call
  /// returns it again. Batches of which all samples were left out are passed over.
  Result<NextBatch> next(std::chrono::nanoseconds at_most) UNSTARVE_EXCLUDES(mutex_);

  /// Ends all waits; next() then fails with kCancelled.
  void cancel() UNSTARVE_EXCLUDES(mutex_);

  std::int64_t claim_blocked_ns() const UNSTARVE_EXCLUDES(mutex_);
  std::int64_t next_blocked_ns() const UNSTARVE_EXCLUDES(mutex_);

 private:
  struct Pending {
    std::optional<HostBatch> batch;
    std::vector<bool> left_out;  // empty while all rows are good
    int unfinished = 0;
    int failed_row = 0;
    std::optional<Error> error;  // of the first row that has one
  };

  int rows_of(std::uint64_t batch) const;
  bool all_claimed() const UNSTARVE_REQUIRES(mutex_);
  bool may_claim() const UNSTARVE_REQUIRES(mutex_);
  bool head_is_done() const UNSTARVE_REQUIRES(mutex_);
  bool open_batch() UNSTARVE_REQUIRES(mutex_);
  void settle(const Ticket& ticket) UNSTARVE_REQUIRES(mutex_);
  Pending& pending_of(std::uint64_t batch) UNSTARVE_REQUIRES(mutex_);

  const Setup setup_;
  const std::uint64_t batch_size_;
  const std::uint64_t batch_count_;

  mutable Mutex mutex_;
  CondVar may_claim_;
  CondVar head_done_;
  std::uint64_t next_sample_ UNSTARVE_GUARDED_BY(mutex_) = 0;  // first unclaimed
  std::uint64_t delivered_ UNSTARVE_GUARDED_BY(mutex_) = 0;    // batches
  std::deque<Pending> pending_ UNSTARVE_GUARDED_BY(mutex_);    // from batch delivered_ on
  bool failed_ UNSTARVE_GUARDED_BY(mutex_) = false;            // open no further batch
  bool cancelled_ UNSTARVE_GUARDED_BY(mutex_) = false;
  std::optional<Error> delivered_error_ UNSTARVE_GUARDED_BY(mutex_);
  std::int64_t claim_blocked_ns_ UNSTARVE_GUARDED_BY(mutex_) = 0;
  std::int64_t next_blocked_ns_ UNSTARVE_GUARDED_BY(mutex_) = 0;
};

}  // namespace unstarve::feed
