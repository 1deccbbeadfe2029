#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "feed/batch/host_batch.h"
#include "feed/batch/slot_memory.h"

namespace unstarve::feed {

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
  /// Frees the slots that nobody has.
  void release_free() noexcept;
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
