#include "feed/pipeline/order/submitted_order.h"

#include <utility>

namespace unstarve::feed {
namespace {

// As the option batch_size allows.
constexpr std::size_t kMaxBatch = 1U << 16;

}  // namespace

SubmittedOrder::SubmittedOrder(std::uint32_t samples, const EpochPosition& start)
    : samples_(samples), next_(start), seen_(samples) {}

Status SubmittedOrder::check(std::span<const std::uint64_t> indices) const {
  if (finished_) {
    return fail(ErrorCode::kInvalidArgument, "a batch was submitted after finish_submitting()");
  }
  for (const std::uint64_t index : indices) {
    if (index >= samples_) {
      return fail(ErrorCode::kInvalidArgument,
                  "sample {} was submitted, the data set has {}: 0 to {} go", index, samples_,
                  samples_ - 1);
    }
  }
  return {};
}

std::uint32_t SubmittedOrder::count_repeat(std::uint64_t index) {
  return seen_[static_cast<std::size_t>(index)]++;
}

Status SubmittedOrder::submit(std::span<const std::uint64_t> indices) {
  if (indices.empty() || indices.size() > kMaxBatch) {
    return fail(ErrorCode::kInvalidArgument, "a batch of {} samples was submitted, 1 to {} go",
                indices.size(), kMaxBatch);
  }
  if (Status status = check(indices); !status) return status;
  // All memory first: what fails for want of it has changed nothing, and take() needs none.
  const std::size_t taken_in_the_end = spare_.size() + waiting_.size() + 1;
  if (taken_in_the_end > spare_.capacity()) spare_.reserve(2 * taken_in_the_end);
  std::vector<PlannedSample> samples;
  if (!spare_.empty()) {
    samples = std::move(spare_.back());
    spare_.pop_back();
  }
  samples.clear();
  samples.reserve(indices.size());
  std::vector<PlannedSample>& last = waiting_.emplace_back(std::move(samples));
  for (const std::uint64_t index : indices) {
    last.push_back({static_cast<std::uint32_t>(index), count_repeat(index)});
  }
  return {};
}

Status SubmittedOrder::skip(std::span<const std::uint64_t> indices) {
  if (Status status = check(indices); !status) return status;
  for (const std::uint64_t index : indices) count_repeat(index);
  return {};
}

Status SubmittedOrder::finish() {
  finished_ = true;
  return {};
}

void SubmittedOrder::take(PlannedBatch& batch) {
  batch.samples.swap(waiting_.front());
  spare_.push_back(std::move(waiting_.front()));
  waiting_.pop_front();
  batch.epoch = next_.epoch;
  batch.number = next_.batches;
  batch.last = false;
  next_.consumed += batch.samples.size();
  ++next_.batches;
  batch.after = next_;
}

std::optional<std::uint32_t> SubmittedOrder::later(std::uint64_t nth) const {
  for (const std::vector<PlannedSample>& samples : waiting_) {
    if (nth < samples.size()) return samples[static_cast<std::size_t>(nth)].index;
    nth -= samples.size();
  }
  return std::nullopt;
}

}  // namespace unstarve::feed
