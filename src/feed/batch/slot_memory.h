#pragma once

#include <cstddef>

namespace unstarve::feed {

/// What the memory of slots is aligned to, and the images in them.
constexpr std::size_t kSlotAlignment = 64;
constexpr std::size_t align_in_slot(std::size_t bytes) {
  return (bytes + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
}

/// Where the memory of batches comes from. A seam: pinned memory, and the fault tests.
/// Thread rule: any thread.
class SlotMemory {
 public:
  virtual ~SlotMemory() = default;
  /// Aligned to kSlotAlignment, or nullptr.
  virtual void* allocate(std::size_t bytes) noexcept = 0;
  virtual void release(void* memory) noexcept = 0;
};

/// Pageable memory from the C library.
class PageableMemory final : public SlotMemory {
 public:
  void* allocate(std::size_t bytes) noexcept override;
  void release(void* memory) noexcept override;
};

}  // namespace unstarve::feed
