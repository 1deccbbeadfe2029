#include "feed/pipeline/order/generated_order.h"

#include <algorithm>

namespace unstarve::feed {
namespace {

std::uint64_t divide_up(std::uint64_t value, std::uint64_t by) { return (value + by - 1) / by; }

/// Samples that each rank gets from `consumed` on.
std::uint64_t samples_per_rank(const GeneratedOrder::Settings& settings, std::uint64_t consumed) {
  if (consumed >= settings.samples) return 0;
  const std::uint64_t left = settings.samples - consumed;
  return settings.remainder == RankRemainder::kPad ? divide_up(left, settings.world_size)
                                                   : left / settings.world_size;
}

Status not_submitted() {
  return fail(ErrorCode::kNotSupported,
              "this epoch's order is made by the loader: begin the epoch with "
              "begin_submitted_epoch() to submit batches");
}

}  // namespace

GeneratedOrder::Settings GeneratedOrder::settings_of(const LoaderOptions& options,
                                                     std::uint64_t samples) {
  Settings settings;
  settings.samples = static_cast<std::uint32_t>(samples);
  settings.seed = options.seed;
  settings.shuffle = options.shuffle;
  settings.batch_size = static_cast<std::uint64_t>(options.batch_size);
  settings.drop_last = options.drop_last;
  settings.rank = static_cast<std::uint64_t>(options.rank);
  settings.world_size = static_cast<std::uint64_t>(options.world_size);
  settings.remainder = options.rank_remainder;
  settings.follow_on = options.prefetch_next_epoch;
  return settings;
}

std::uint64_t GeneratedOrder::batches_left(const Settings& settings, std::uint64_t consumed) {
  const std::uint64_t samples = samples_per_rank(settings, consumed);
  return settings.drop_last ? samples / settings.batch_size
                            : divide_up(samples, settings.batch_size);
}

GeneratedOrder::GeneratedOrder(const Settings& settings) : settings_(settings) {
  begin(settings_.start);
}

void GeneratedOrder::begin(const EpochPosition& position) {
  next_ = position;
  rank_samples_ = samples_per_rank(settings_, position.consumed);
  left_ = batches_left(settings_, position.consumed);
  ended_ = left_ == 0;
  if (settings_.shuffle && !ended_) {
    permutation_.emplace(settings_.samples, settings_.seed, position.epoch);
  }
}

std::uint32_t GeneratedOrder::index_at(std::uint64_t position) const {
  // Positions past the end pad the last round of the ranks with the head of the order.
  const auto place = static_cast<std::uint32_t>(position % settings_.samples);
  return permutation_ ? (*permutation_)(place) : place;
}

void GeneratedOrder::take(PlannedBatch& batch) {
  const std::uint64_t count = std::min(settings_.batch_size, rank_samples_);
  batch.samples.clear();
  batch.samples.reserve(count);
  for (std::uint64_t row = 0; row < count; ++row) {
    const std::uint64_t position = next_.consumed + row * settings_.world_size + settings_.rank;
    batch.samples.push_back({index_at(position), 0});
  }
  batch.epoch = next_.epoch;
  batch.number = next_.batches;
  rank_samples_ -= count;
  next_.consumed += count * settings_.world_size;
  ++next_.batches;
  batch.last = --left_ == 0;
  batch.after = batch.last ? EpochPosition{next_.epoch + 1, 0, 0} : next_;
  if (!batch.last) return;
  ended_ = true;
  if (settings_.follow_on) begin(batch.after);
}

std::optional<std::uint32_t> GeneratedOrder::later(std::uint64_t nth) const {
  if (ended_ || nth >= rank_samples_) return std::nullopt;
  return index_at(next_.consumed + nth * settings_.world_size + settings_.rank);
}

Status GeneratedOrder::submit(std::span<const std::uint64_t>) { return not_submitted(); }
Status GeneratedOrder::skip(std::span<const std::uint64_t>) { return not_submitted(); }
Status GeneratedOrder::finish() { return not_submitted(); }

}  // namespace unstarve::feed
