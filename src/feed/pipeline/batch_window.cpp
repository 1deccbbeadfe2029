#include "feed/pipeline/batch_window.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace unstarve::feed {
namespace {

std::uint64_t count_batches(std::uint64_t samples, std::uint64_t batch_size, bool drop_last) {
  return drop_last ? samples / batch_size : (samples + batch_size - 1) / batch_size;
}

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
    : setup_(std::move(setup)),
      batch_size_(static_cast<std::uint64_t>(setup_.pool->shape().batch_size)),
      batch_count_(count_batches(setup_.order.size(), batch_size_, setup_.drop_last)) {}

int BatchWindow::rows_of(std::uint64_t batch) const {
  return static_cast<int>(std::min(batch_size_, setup_.order.size() - batch * batch_size_));
}

bool BatchWindow::all_claimed() const {
  return next_sample_ >= std::min<std::uint64_t>(setup_.order.size(), batch_count_ * batch_size_);
}

bool BatchWindow::may_claim() const {
  const std::uint64_t batch = next_sample_ / batch_size_;
  return batch < delivered_ + pending_.size() || batch < delivered_ + setup_.ahead;
}

BatchWindow::Pending& BatchWindow::pending_of(std::uint64_t batch) {
  return pending_[batch - delivered_];
}

std::optional<Ticket> BatchWindow::claim(const std::stop_token& stop) {
  MutexLock lock(mutex_);
  const auto ready = [this]() UNSTARVE_REQUIRES(mutex_) {
    const bool inside_batch = next_sample_ % batch_size_ != 0;
    return cancelled_ || all_claimed() || (failed_ && !inside_batch) || may_claim();
  };
  if (!ready()) {
    const std::int64_t blocked_from_ns = setup_.clock.now_ns();
    may_claim_.wait(mutex_, stop, ready);
    claim_blocked_ns_ += setup_.clock.now_ns() - blocked_from_ns;
  }
  if (cancelled_ || all_claimed() || stop.stop_requested()) return std::nullopt;
  if (next_sample_ % batch_size_ == 0 && (failed_ || !open_batch())) return std::nullopt;

  Ticket ticket;
  ticket.batch = next_sample_ / batch_size_;
  ticket.row = static_cast<int>(next_sample_ % batch_size_);
  ticket.index = setup_.order[next_sample_];
  const HostBatch& batch = *pending_of(ticket.batch).batch;
  ticket.image = batch.image(ticket.row);
  ticket.label = batch.labels() + ticket.row;
  ++next_sample_;
  return ticket;
}

bool BatchWindow::open_batch() {
  const std::uint64_t number = next_sample_ / batch_size_;
  Pending& pending = pending_.emplace_back();
  Result<HostBatch> slot = setup_.pool->acquire();
  if (!slot) {
    failed_ = true;
    pending.error = slot.error();
    may_claim_.notify_all();
    head_done_.notify_all();
    return false;
  }
  slot->batch = number;
  slot->count = rows_of(number);
  pending.unfinished = slot->count;
  pending.batch.emplace(std::move(*slot));
  return true;
}

void BatchWindow::finish(const Ticket& ticket, Outcome outcome) {
  MutexLock lock(mutex_);
  if (cancelled_) return;
  if (outcome == Outcome::kLeftOut) {
    Pending& pending = pending_of(ticket.batch);
    pending.left_out.resize(static_cast<std::size_t>(pending.batch->count));
    pending.left_out[static_cast<std::size_t>(ticket.row)] = true;
  }
  settle(ticket);
}

void BatchWindow::finish(const Ticket& ticket, Error error) {
  MutexLock lock(mutex_);
  if (cancelled_) return;
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
  if (--pending_of(ticket.batch).unfinished == 0 && ticket.batch == delivered_) {
    head_done_.notify_all();
  }
}

bool BatchWindow::head_is_done() const {
  return !pending_.empty() && pending_.front().unfinished == 0;
}

Result<NextBatch> BatchWindow::next(std::chrono::nanoseconds at_most) {
  for (;;) {
    Pending head;
    {
      MutexLock lock(mutex_);
      const auto ready = [this]() UNSTARVE_REQUIRES(mutex_) {
        return cancelled_ || delivered_error_ || delivered_ == batch_count_ || head_is_done();
      };
      if (!ready()) {
        const std::int64_t blocked_from_ns = setup_.clock.now_ns();
        head_done_.wait_for(mutex_, at_most, ready);
        next_blocked_ns_ += setup_.clock.now_ns() - blocked_from_ns;
      }
      if (delivered_error_) return tl::unexpected<Error>(*delivered_error_);
      if (cancelled_) return fail(ErrorCode::kCancelled, "the epoch was cancelled");
      if (delivered_ == batch_count_) return NextBatch{NextState::kEnd, std::nullopt};
      if (!head_is_done()) return NextBatch{NextState::kTimeout, std::nullopt};
      if (pending_.front().error) {
        delivered_error_ = pending_.front().error;
        return tl::unexpected<Error>(*delivered_error_);
      }
      head = std::move(pending_.front());
      pending_.pop_front();
      ++delivered_;
    }
    may_claim_.notify_all();
    if (!head.left_out.empty()) close_gaps(*head.batch, head.left_out);
    if (head.batch->count > 0) return NextBatch{NextState::kBatch, std::move(head.batch)};
  }
}

void BatchWindow::cancel() {
  {
    MutexLock lock(mutex_);
    cancelled_ = true;
  }
  may_claim_.notify_all();
  head_done_.notify_all();
}

std::int64_t BatchWindow::claim_blocked_ns() const {
  MutexLock lock(mutex_);
  return claim_blocked_ns_;
}

std::int64_t BatchWindow::next_blocked_ns() const {
  MutexLock lock(mutex_);
  return next_blocked_ns_;
}

}  // namespace unstarve::feed
