#include "feed/batch/batch_pool.h"

#include <unistd.h>

#include <cstdlib>
#include <utility>

namespace unstarve::feed {
namespace {

constexpr std::size_t kAlignment = 64;

std::size_t round_up(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

void* PageableMemory::allocate(std::size_t bytes) noexcept {
  return std::aligned_alloc(kAlignment, round_up(bytes));
}

void PageableMemory::release(void* memory) noexcept { std::free(memory); }

std::size_t BatchShape::slot_bytes() const {
  const auto images = static_cast<std::size_t>(batch_size);
  return round_up(image_bytes() * images) + images * sizeof(std::int64_t);
}

HostBatch::HostBatch(std::shared_ptr<BatchPool> pool, void* memory, const BatchShape& shape)
    : pool_(std::move(pool)), memory_(memory), shape_(shape) {
  images_ = static_cast<std::uint8_t*>(memory);
  const std::size_t image_bytes =
      round_up(shape_.image_bytes() * static_cast<std::size_t>(shape_.batch_size));
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

BatchPool::BatchPool(const BatchShape& shape, std::size_t kept, std::shared_ptr<SlotMemory> memory)
    : kept_(kept), memory_(std::move(memory)), owner_(::getpid()), shape_(shape) {
  free_.reserve(kept);  // so that giving back allocates nothing
}

std::shared_ptr<BatchPool> BatchPool::create(const BatchShape& shape, std::size_t kept,
                                             std::shared_ptr<SlotMemory> memory) {
  struct Constructible : BatchPool {
    Constructible(const BatchShape& s, std::size_t k, std::shared_ptr<SlotMemory> m)
        : BatchPool(s, k, std::move(m)) {}
  };
  return std::make_shared<Constructible>(shape, kept, std::move(memory));
}

BatchPool::~BatchPool() {
  for (void* memory : free_) memory_->release(memory);
}

Result<HostBatch> BatchPool::acquire(int images) {
  void* memory = nullptr;
  BatchShape shape;
  {
    MutexLock lock(mutex_);
    if (images > shape_.batch_size) {
      for (void* too_small : free_) memory_->release(too_small);
      free_.clear();
      shape_.batch_size = images;
    }
    shape = shape_;
    if (!free_.empty()) {
      memory = free_.back();
      free_.pop_back();
    } else {
      ++allocations_;
    }
  }
  if (memory == nullptr) memory = memory_->allocate(shape.slot_bytes());
  if (memory == nullptr) {
    return fail(ErrorCode::kOutOfMemory,
                "no memory for a batch of {} bytes; lower batch_size or prefetch",
                shape.slot_bytes());
  }
  return HostBatch(shared_from_this(), memory, shape);
}

void BatchPool::give_back(void* memory, int batch_size) noexcept {
  // In a forked child the mutex may be held by a thread that does not exist there.
  if (::getpid() != owner_) return;
  {
    MutexLock lock(mutex_);
    if (batch_size == shape_.batch_size && free_.size() < kept_) {
      free_.push_back(memory);
      return;
    }
  }
  memory_->release(memory);
}

std::uint64_t BatchPool::allocations() const {
  MutexLock lock(mutex_);
  return allocations_;
}

}  // namespace unstarve::feed
