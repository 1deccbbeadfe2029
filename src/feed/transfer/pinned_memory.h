#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "device/pinned_host.h"
#include "feed/batch/slot_memory.h"

namespace unstarve::feed {

/// Slots in page-locked memory, from which a device copies at the bus's full speed while the host
/// goes on. Where a slot cannot be pinned it is pageable, and why_pageable() says the reason.
///
/// A copy reads the slot after the call that started it has returned: whoever starts copies keeps
/// the HostBatch until the copy is over.
/// Thread rule: any thread.
class PinnedMemory final : public SlotMemory {
 public:
  explicit PinnedMemory(std::unique_ptr<device::PinnedHost> host);

  void* allocate(std::size_t bytes) noexcept override;
  /// In a forked child it does nothing: the memory belongs to the parent's device.
  void release(void* memory) noexcept override;

  /// Slots that are out now.
  struct Slots {
    std::size_t pinned = 0;
    std::size_t pageable = 0;
  };
  Slots slots() const;
  /// Why the first of the slots that are not pinned is not; empty: all are.
  std::string why_pageable() const;
  std::string pinned_by() const { return host_->name(); }

 private:
  void* allocate_pinned(std::size_t bytes);

  const std::unique_ptr<device::PinnedHost> host_;
  const pid_t owner_;
  PageableMemory plain_;
  mutable Mutex mutex_;
  std::vector<void*> pinned_ UNSTARVE_GUARDED_BY(mutex_);
  std::size_t pageable_ UNSTARVE_GUARDED_BY(mutex_) = 0;
  std::string why_pageable_ UNSTARVE_GUARDED_BY(mutex_);
};

}  // namespace unstarve::feed
