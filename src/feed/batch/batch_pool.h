#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "feed/data/transform_plan.h"

namespace unstarve::feed {

/// Where the memory of batches comes from. A seam: pinned memory, and the fault tests.
/// Thread rule: any thread.
class SlotMemory {
 public:
  virtual ~SlotMemory() = default;
  /// 64-byte aligned, or nullptr.
  virtual void* allocate(std::size_t bytes) noexcept = 0;
  virtual void release(void* memory) noexcept = 0;
};

/// Pageable memory from the C library.
class PageableMemory final : public SlotMemory {
 public:
  void* allocate(std::size_t bytes) noexcept override;
  void release(void* memory) noexcept override;
};

struct BatchShape {
  int batch_size = 0;
  int height = 0;
  int width = 0;
  OutputPlan::Type type = OutputPlan::Type::kUint8;
  OutputPlan::Layout layout = OutputPlan::Layout::kNhwc;
  std::size_t image_bytes() const {
    return static_cast<std::size_t>(height) * static_cast<std::size_t>(width) * 3 *
           value_bytes(type);
  }
  /// Of a whole batch with its labels.
  std::size_t slot_bytes() const;
};

class BatchPool;

/// A batch in memory: `count` RGB images, as its shape says, with their labels. Whoever holds it
/// owns its slot alone; destroying it gives the slot back to the pool.
class HostBatch {
 public:
  HostBatch(HostBatch&& other) noexcept = default;
  HostBatch& operator=(HostBatch&& other) noexcept;
  ~HostBatch();

  std::uint8_t* image(int row) const { return images_ + shape_.image_bytes() * std::size_t(row); }
  std::int64_t* labels() const { return labels_; }
  const BatchShape& shape() const { return shape_; }

  int count = 0;            // images in it, at most shape().batch_size, which is the slot's own
  std::uint64_t batch = 0;  // which of the epoch's batches

 private:
  friend class BatchPool;
  HostBatch(std::shared_ptr<BatchPool> pool, void* memory, const BatchShape& shape);
  void give_back() noexcept;

  std::shared_ptr<BatchPool> pool_;  // shared: tensors may outlive the loader
  void* memory_ = nullptr;
  std::uint8_t* images_ = nullptr;
  std::int64_t* labels_ = nullptr;
  BatchShape shape_;
};

/// Recycles the slots of batches. It never blocks: when all slots are out, because the consumer
/// keeps batches, it allocates another, and frees those beyond `kept` when they come back. A batch
/// that is larger than all before makes every slot from then on as large.
/// Thread rule: any thread.
class BatchPool : public std::enable_shared_from_this<BatchPool> {
 public:
  /// `memory` must outlive every batch of the pool.
  static std::shared_ptr<BatchPool> create(const BatchShape& shape, std::size_t kept,
                                           std::shared_ptr<SlotMemory> memory);
  ~BatchPool();

  /// A slot for at least `images`; one is what the pool was made for, or more.
  Result<HostBatch> acquire(int images);
  /// Slots allocated since the pool was made; constant in the steady state.
  std::uint64_t allocations() const;

 private:
  friend class HostBatch;
  BatchPool(const BatchShape& shape, std::size_t kept, std::shared_ptr<SlotMemory> memory);
  void give_back(void* memory, int batch_size) noexcept;

  const std::size_t kept_;
  const std::shared_ptr<SlotMemory> memory_;  // shared: tensors may outlive the loader
  const pid_t owner_;
  mutable Mutex mutex_;
  BatchShape shape_ UNSTARVE_GUARDED_BY(mutex_);  // of the slots in free_
  std::vector<void*> free_ UNSTARVE_GUARDED_BY(mutex_);
  std::uint64_t allocations_ UNSTARVE_GUARDED_BY(mutex_) = 0;
};

}  // namespace unstarve::feed
