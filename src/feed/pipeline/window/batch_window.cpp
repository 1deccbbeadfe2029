#include "feed/pipeline/window/batch_window.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace unstarve::feed {
namespace {

/// Moves the good rows together, in order.
void close_gaps(HostBatch& batch, const std::vector<bool>& left_out) {
  int kept = 0;
  for (int row = 0; row < batch.count; ++row) {
    if (left_out[static_cast<std::size_t>(row)]) continue;
    if (kept != row) {
      std::memcpy(batch.image(kept), batch.image(row), batch.shape().image_bytes());
      batch.labels()[kept] = batch.labels()[row];
    }
    ++kept;
  }
  batch.count = kept;
}

}  // namespace

BatchWindow::BatchWindow(Setup setup)
    : pool_(std::move(setup.pool)),
      clock_(setup.clock),
      reports_(setup.reports),
      order_(std::move(setup.order)),
      position_(setup.start),
      epoch_(setup.start.epoch),
      ring_(static_cast<std::size_t>(std::max(setup.ahead, setup.most_ahead))),
      ahead_(static_cast<std::uint64_t>(setup.ahead)) {}

BatchWindow::Pending& BatchWindow::pending_of(std::uint64_t batch) {
  return ring_[batch % ring_.size()];
}

const BatchWindow::Pending& BatchWindow::pending_of(std::uint64_t batch) const {
  return ring_[batch % ring_.size()];
}

bool BatchWindow::rows_left() const {
  return opened_ > 0 && next_row_ < pending_of(opened_ - 1).plan.samples.size();
}

/// There is a batch to open now.
bool BatchWindow::batches_left() const { return opened_ < planned_ || order_->ready(); }

std::uint64_t BatchWindow::most_open() const {
  if (reads_ahead_) return ahead_;
  return asked_ ? 1 : 0;
}

/// Opens batches until there is a row to load. False: none will come, or whoever asks shall stop.
bool BatchWindow::wait_for_rows(const std::stop_token& stop) {
  const auto ready = [this]() UNSTARVE_REQUIRES(mutex_) {
    return cancelled_ || failed_ || rows_left() || (opened_ == planned_ && order_->ended()) ||
           (batches_left() && opened_ - delivered_ < most_open());
  };
  for (;;) {
    if (!ready()) {
      const std::int64_t blocked_from_ns = clock_.now_ns();
      may_claim_.wait(mutex_, stop, ready);
      waits_.claim_blocked_ns += clock_.now_ns() - blocked_from_ns;
    }
    if (cancelled_ || stop.stop_requested()) return false;
    if (rows_left()) return true;
    if (failed_ || !batches_left()) return false;
    if (!open_batch() && !reports_) return false;
  }
}

std::optional<Ticket> BatchWindow::claim(const std::stop_token& stop) noexcept {
  MutexLock lock(mutex_);
  if (!wait_for_rows(stop)) return std::nullopt;
  const Pending& pending = pending_of(opened_ - 1);
  Ticket ticket;
  ticket.batch = opened_ - 1;
  ticket.row = static_cast<int>(next_row_);
  ticket.sample = pending.plan.samples[next_row_];
  ticket.epoch = pending.plan.epoch;
  ticket.image = pending.batch->image(ticket.row);
  ticket.label = pending.batch->labels() + ticket.row;
  const std::vector<PlannedSample>& rows = pending.plan.samples;
  const std::size_t later = next_row_ + kReadAhead;
  ticket.later =
      later < rows.size() ? std::optional(rows[later].index) : order_->later(later - rows.size());
  ++next_row_;
  return ticket;
}

/// A thread that has failed to load a sample should not need memory to say so.
void BatchWindow::make_room_for_failures(std::size_t rows) {
  std::size_t most = untold_.size() + rows;
  for (std::uint64_t batch = delivered_; batch < opened_; ++batch) {
    most += static_cast<std::size_t>(pending_of(batch).unfinished);
  }
  untold_.reserve(most);
}

bool BatchWindow::open_batch() noexcept {
  Pending& pending = pending_of(opened_);
  next_row_ = 0;
  pending.error.reset();
  pending.has_gaps = false;
  Status filled;
  try {
    filled = fill(pending);
  } catch (...) {
    filled = tl::unexpected<Error>(caught_error());
  }
  ++opened_;
  planned_ = std::max(planned_, opened_);
  if (!filled) {
    failed_ = !reports_;
    pending.error = std::move(filled).error();
    pending.unfinished = 0;
    pending.plan.samples.clear();  // nothing of it can be claimed
    may_claim_.notify_all();
    head_done_.notify_all();
    return false;
  }
  // With the last batch a thread that waits for another has nothing to wait for.
  if (opened_ == planned_ && order_->ended()) may_claim_.notify_all();
  return true;
}

Status BatchWindow::fill(Pending& pending) {
  if (opened_ == planned_) order_->take(pending.plan);
  if (reports_) make_room_for_failures(pending.plan.samples.size());
  const auto count = static_cast<int>(pending.plan.samples.size());
  Result<HostBatch> slot = pool_->acquire(count);
  if (!slot) return forward_error(std::move(slot));
  slot->batch = pending.plan.number;
  slot->count = count;
  pending.left_out.assign(pending.plan.samples.size(), false);
  pending.unfinished = count;
  pending.batch.emplace(std::move(*slot));
  return {};
}

void BatchWindow::finish(const Ticket& ticket, Outcome outcome) noexcept {
  MutexLock lock(mutex_);
  if (cancelled_) return;
  if (outcome == Outcome::kLeftOut) {
    Pending& pending = pending_of(ticket.batch);
    pending.left_out[static_cast<std::size_t>(ticket.row)] = true;
    pending.has_gaps = true;
  }
  settle(ticket);
}

void BatchWindow::finish(const Ticket& ticket, Error error) noexcept {
  MutexLock lock(mutex_);
  if (cancelled_) return;
  if (reports_) {
    untold_.push_back({ticket.batch, ticket.row, error.code});
    return settle(ticket);
  }
  Pending& pending = pending_of(ticket.batch);
  if (!pending.error || ticket.row < pending.failed_row) {
    pending.error = std::move(error);
    pending.failed_row = ticket.row;
  }
  failed_ = true;
  may_claim_.notify_all();
  settle(ticket);
}

void BatchWindow::settle(const Ticket& ticket) {
  if (--pending_of(ticket.batch).unfinished > 0) return;
  ++waits_.ready;
  if (ticket.batch == delivered_) head_done_.notify_all();
}

bool BatchWindow::head_is_done() const {
  return opened_ > delivered_ && pending_of(delivered_).unfinished == 0;
}

bool BatchWindow::epoch_is_over() {
  if (!epoch_over_ && planned_ == delivered_ && order_->ended()) {
    epoch_over_ = true;  // an order that did not know which batch was its last
    position_ = {epoch_ + 1, 0, 0};
  }
  return epoch_over_;
}

Result<NextBatch> BatchWindow::next(std::chrono::nanoseconds at_most) {
  for (;;) {
    std::optional<HostBatch> batch;
    std::optional<Error> error;
    std::vector<bool> gaps;
    {
      MutexLock lock(mutex_);
      const auto ready = [this]() UNSTARVE_REQUIRES(mutex_) {
        return cancelled_ || delivered_error_ || epoch_is_over() || head_is_done();
      };
      if (!ready()) {
        if (waits_.consumers++ == 0) next_blocked_from_ns_ = clock_.now_ns();
        asked_ = true;
        if (!reads_ahead_) may_claim_.notify_all();
        head_done_.wait_for(mutex_, at_most, ready);
        if (--waits_.consumers == 0) {
          waits_.next_blocked_ns += clock_.now_ns() - next_blocked_from_ns_;
        }
      }
      if (delivered_error_) return tl::unexpected<Error>(*delivered_error_);
      if (cancelled_) return unstarve::fail(ErrorCode::kCancelled, "the epoch was cancelled");
      if (epoch_is_over()) return NextBatch{NextState::kEnd, std::nullopt};
      if (!head_is_done()) return NextBatch{NextState::kTimeout, std::nullopt};
      Pending& head = pending_of(delivered_);
      if (head.error && !reports_) {
        delivered_error_ = std::move(head.error);
        return tl::unexpected<Error>(*delivered_error_);
      }
      batch.swap(head.batch);
      error.swap(head.error);
      if (head.has_gaps) gaps.swap(head.left_out);
      position_ = head.plan.after;
      epoch_over_ = head.plan.last;
      ++delivered_;
      asked_ = false;
      if (!error) --waits_.ready;
    }
    may_claim_.notify_all();
    if (error) return tl::unexpected<Error>(*std::move(error));
    if (!gaps.empty()) close_gaps(*batch, gaps);
    if (batch->count > 0) return NextBatch{NextState::kBatch, std::move(batch)};
  }
}

std::vector<FailedRow> BatchWindow::take_failed() {
  MutexLock lock(mutex_);
  std::vector<FailedRow> failed(untold_);  // a copy: the memory stays where it was reserved
  untold_.clear();
  return failed;
}

bool BatchWindow::advance_to(std::uint32_t epoch) {
  MutexLock lock(mutex_);
  const bool goes_on = planned_ > delivered_ || !order_->ended();
  if (cancelled_ || failed_ || !epoch_over_ || epoch != epoch_ + 1 || !goes_on) return false;
  epoch_ = epoch;
  epoch_over_ = false;
  return true;
}

EpochPosition BatchWindow::position() const {
  MutexLock lock(mutex_);
  return position_;
}

Status BatchWindow::submit(std::span<const std::uint64_t> indices) {
  MutexLock lock(mutex_);
  Status status = order_->submit(indices);
  may_claim_.notify_all();
  return status;
}

Status BatchWindow::skip(std::span<const std::uint64_t> indices) {
  MutexLock lock(mutex_);
  return order_->skip(indices);
}

Status BatchWindow::finish_submitting() {
  MutexLock lock(mutex_);
  Status status = order_->finish();
  may_claim_.notify_all();
  head_done_.notify_all();
  return status;
}

std::uint64_t BatchWindow::wanted_batches() const {
  MutexLock lock(mutex_);
  const std::uint64_t under_way = planned_ - delivered_ + order_->waiting();
  return cancelled_ || failed_ || under_way >= ahead_ ? 0 : ahead_ - under_way;
}

void BatchWindow::set_ahead(int batches) {
  {
    MutexLock lock(mutex_);
    ahead_ = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(batches), 1, ring_.size());
  }
  may_claim_.notify_all();
}

void BatchWindow::set_reads_ahead(bool reads_ahead) {
  {
    MutexLock lock(mutex_);
    reads_ahead_ = reads_ahead;
  }
  may_claim_.notify_all();
}

void BatchWindow::forget_ready() {
  MutexLock lock(mutex_);
  if (cancelled_ || failed_) return;
  for (std::uint64_t batch = delivered_; batch < opened_; ++batch) {
    if (pending_of(batch).error) return;
  }
  for (std::uint64_t batch = delivered_; batch < opened_; ++batch) pending_of(batch).batch.reset();
  std::erase_if(untold_, [from = delivered_](const FailedRow& row) { return row.batch >= from; });
  opened_ = delivered_;
  next_row_ = std::numeric_limits<std::size_t>::max();
  waits_.ready = 0;
}

void BatchWindow::cancel() {
  {
    MutexLock lock(mutex_);
    cancelled_ = true;
    for (std::uint64_t batch = delivered_; batch < opened_; ++batch) {
      Pending& pending = pending_of(batch);
      if (pending.unfinished == 0) pending.batch.reset();
    }
  }
  cancellation_.request_stop();
  may_claim_.notify_all();
  head_done_.notify_all();
}

void BatchWindow::fail(Error error) noexcept {
  {
    MutexLock lock(mutex_);
    failed_ = true;
    if (!delivered_error_) delivered_error_ = std::move(error);
  }
  may_claim_.notify_all();
  head_done_.notify_all();
}

BatchWindow::Waits BatchWindow::waits() const {
  MutexLock lock(mutex_);
  Waits waits = waits_;
  waits.open = static_cast<int>(opened_ - delivered_);
  if (waits.consumers > 0) waits.next_blocked_ns += clock_.now_ns() - next_blocked_from_ns_;
  return waits;
}

}  // namespace unstarve::feed
