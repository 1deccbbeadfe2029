#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "feed/data/transform_plan.h"

namespace unstarve::feed {

/// How large a batch is, and how its values are written.
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

}  // namespace unstarve::feed
