#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "feed/batch/batch_pool.h"
#include "feed/pipeline/order/batch_order.h"
#include "feed/pipeline/window/next_batch.h"
#include "feed/pipeline/window/ticket.h"

namespace unstarve::feed {

/// Batches on their way from the loading threads to the consumer: samples are claimed in order by
/// any thread, batches come out in order. Claims stay at most `ahead` batches in front of the
/// consumer. It is not a queue because samples finish out of order: a slow one holds back only its
/// own batch, while the threads go on with those behind it. It may run on into the next epoch
/// before the consumer has begun that.
/// Thread rule: any thread; several consumers share the batches.
class BatchWindow {
 public:
  struct Setup {
    std::unique_ptr<BatchOrder> order;
    EpochPosition start;
    int ahead = 1;
    int most_ahead = 1;  // that set_ahead() will ask for
    std::shared_ptr<BatchPool> pool;
    const Clock& clock;
    bool reports = false;  // a failure is told by take_failed(), and ends nothing
  };
  explicit BatchWindow(Setup setup);

  /// Waits while the window is full. Nothing: all is claimed, cancelled, failed or stopped. Where
  /// there is no memory for a batch, its place is taken by the error.
  std::optional<Ticket> claim(const std::stop_token& stop) noexcept UNSTARVE_EXCLUDES(mutex_);
  /// The claimed sample is written; or left out of its batch; or makes its batch an error that ends
  /// the epoch; or, in a window that reports, leaves its row to the consumer.
  enum class Outcome { kLoaded, kLeftOut };
  void finish(const Ticket& ticket, Outcome outcome) noexcept UNSTARVE_EXCLUDES(mutex_);
  void finish(const Ticket& ticket, Error error) noexcept UNSTARVE_EXCLUDES(mutex_);

  /// The next batch in order; waits for it up to `at_most`. After an error every further call
  /// returns it again; a window that reports goes on with the next batch. Batches of which all
  /// samples were left out are passed over.
  Result<NextBatch> next(std::chrono::nanoseconds at_most) UNSTARVE_EXCLUDES(mutex_);
  /// Rows that failed since the last call, of a batch that next() has returned or will return: all
  /// of the former are among them.
  std::vector<FailedRow> take_failed() UNSTARVE_EXCLUDES(mutex_);
  /// Makes `epoch` the consumer's, if it is the next one and the threads go on into it.
  bool advance_to(std::uint32_t epoch) UNSTARVE_EXCLUDES(mutex_);
  /// Where the consumer is; batches that lie ready do not count.
  EpochPosition position() const UNSTARVE_EXCLUDES(mutex_);

  /// See BatchOrder.
  Status submit(std::span<const std::uint64_t> indices) UNSTARVE_EXCLUDES(mutex_);
  Status skip(std::span<const std::uint64_t> indices) UNSTARVE_EXCLUDES(mutex_);
  Status finish_submitting() UNSTARVE_EXCLUDES(mutex_);
  /// Batches that would find a thread waiting for them if they were submitted now.
  std::uint64_t wanted_batches() const UNSTARVE_EXCLUDES(mutex_);

  void set_ahead(int batches) UNSTARVE_EXCLUDES(mutex_);
  /// False: a batch is begun only when a consumer has asked for it.
  void set_reads_ahead(bool reads_ahead) UNSTARVE_EXCLUDES(mutex_);
  /// Gives back the slots of batches that no consumer has; they are loaded again, the same. Only
  /// while no thread works on them. What has failed stays as it is.
  void forget_ready() UNSTARVE_EXCLUDES(mutex_);
  /// Ends all waits and gives back what lies ready; next() then fails with kCancelled.
  void cancel() UNSTARVE_EXCLUDES(mutex_);
  /// Stopped by cancel(): for whatever a thread does for a ticket that takes long.
  std::stop_token cancellation() const { return cancellation_.get_token(); }
  /// Makes `error` the end, ahead of all that is under way.
  void fail(Error error) noexcept UNSTARVE_EXCLUDES(mutex_);

  /// Sums since the window was made, with a wait for a batch that still lasts, and what lies ready
  /// now.
  struct Waits {
    std::int64_t claim_blocked_ns = 0;
    std::int64_t next_blocked_ns = 0;  // one consumer waited, or several
    int consumers = 0;                 // that wait now
    int open = 0;                      // batches claimed from and not delivered
    int ready = 0;                     // of these: complete
  };
  Waits waits() const UNSTARVE_EXCLUDES(mutex_);

 private:
  struct Pending {
    PlannedBatch plan;
    std::optional<HostBatch> batch;
    std::vector<bool> left_out;  // all false while all rows are good
    bool has_gaps = false;
    int unfinished = 0;
    int failed_row = 0;
    std::optional<Error> error;  // of the first row that has one
  };

  Pending& pending_of(std::uint64_t batch) UNSTARVE_REQUIRES(mutex_);
  const Pending& pending_of(std::uint64_t batch) const UNSTARVE_REQUIRES(mutex_);
  bool rows_left() const UNSTARVE_REQUIRES(mutex_);
  bool batches_left() const UNSTARVE_REQUIRES(mutex_);
  std::uint64_t most_open() const UNSTARVE_REQUIRES(mutex_);
  bool wait_for_rows(const std::stop_token& stop) UNSTARVE_REQUIRES(mutex_);
  bool open_batch() noexcept UNSTARVE_REQUIRES(mutex_);
  Status fill(Pending& pending) UNSTARVE_REQUIRES(mutex_);
  void make_room_for_failures(std::size_t rows) UNSTARVE_REQUIRES(mutex_);
  void settle(const Ticket& ticket) UNSTARVE_REQUIRES(mutex_);
  bool head_is_done() const UNSTARVE_REQUIRES(mutex_);
  bool epoch_is_over() UNSTARVE_REQUIRES(mutex_);

  const std::shared_ptr<BatchPool> pool_;
  const Clock& clock_;
  const bool reports_;
  std::stop_source cancellation_;

  mutable Mutex mutex_;
  CondVar may_claim_;
  CondVar head_done_;
  std::unique_ptr<BatchOrder> order_ UNSTARVE_GUARDED_BY(mutex_);
  EpochPosition position_ UNSTARVE_GUARDED_BY(mutex_);
  std::uint32_t epoch_ UNSTARVE_GUARDED_BY(mutex_);          // the consumer's
  bool epoch_over_ UNSTARVE_GUARDED_BY(mutex_) = false;      // its last batch is delivered
  std::vector<Pending> ring_ UNSTARVE_GUARDED_BY(mutex_);    // batch b lies at b modulo the size
  std::uint64_t planned_ UNSTARVE_GUARDED_BY(mutex_) = 0;    // batches whose samples are known
  std::uint64_t opened_ UNSTARVE_GUARDED_BY(mutex_) = 0;     // batches that have a slot
  std::uint64_t delivered_ UNSTARVE_GUARDED_BY(mutex_) = 0;  // batches
  std::size_t next_row_ UNSTARVE_GUARDED_BY(mutex_) = 0;     // of the batch opened last
  std::uint64_t ahead_ UNSTARVE_GUARDED_BY(mutex_);
  bool reads_ahead_ UNSTARVE_GUARDED_BY(mutex_) = true;
  bool asked_ UNSTARVE_GUARDED_BY(mutex_) = false;   // for the batch behind those delivered
  bool failed_ UNSTARVE_GUARDED_BY(mutex_) = false;  // open no further batch
  bool cancelled_ UNSTARVE_GUARDED_BY(mutex_) = false;
  std::optional<Error> delivered_error_ UNSTARVE_GUARDED_BY(mutex_);
  std::vector<FailedRow> untold_ UNSTARVE_GUARDED_BY(mutex_);
  Waits waits_ UNSTARVE_GUARDED_BY(mutex_);
  // Since when next_blocked_ns does not have the wait of waits_.consumers.
  std::int64_t next_blocked_from_ns_ UNSTARVE_GUARDED_BY(mutex_) = 0;
};

}  // namespace unstarve::feed
