#include "feed/batch/host_batch.h"

#include <utility>

#include "feed/batch/batch_pool.h"

namespace unstarve::feed {

std::size_t BatchShape::slot_bytes() const {
  const auto images = static_cast<std::size_t>(batch_size);
  return align_in_slot(image_bytes() * images) + images * sizeof(std::int64_t);
}

HostBatch::HostBatch(std::shared_ptr<BatchPool> pool, void* memory, const BatchShape& shape)
    : pool_(std::move(pool)), memory_(memory), shape_(shape) {
  images_ = static_cast<std::uint8_t*>(memory);
  const std::size_t image_bytes =
      align_in_slot(shape_.image_bytes() * static_cast<std::size_t>(shape_.batch_size));
  labels_ = reinterpret_cast<std::int64_t*>(images_ + image_bytes);
}

HostBatch& HostBatch::operator=(HostBatch&& other) noexcept {
  if (this == &other) return *this;
  give_back();
  pool_ = std::move(other.pool_);
  memory_ = other.memory_;
  images_ = other.images_;
  labels_ = other.labels_;
  shape_ = other.shape_;
  count = other.count;
  batch = other.batch;
  return *this;
}

HostBatch::~HostBatch() { give_back(); }

void HostBatch::give_back() noexcept {
  if (pool_ == nullptr) return;  // moved from
  pool_->give_back(memory_, shape_.batch_size);
  pool_.reset();
}

}  // namespace unstarve::feed
