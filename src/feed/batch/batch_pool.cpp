#include "feed/batch/batch_pool.h"

#include <unistd.h>

#include <utility>

namespace unstarve::feed {

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

void BatchPool::release_free() noexcept {
  MutexLock lock(mutex_);
  for (void* memory : free_) memory_->release(memory);
  free_.clear();
}

std::uint64_t BatchPool::allocations() const {
  MutexLock lock(mutex_);
  return allocations_;
}

}  // namespace unstarve::feed
