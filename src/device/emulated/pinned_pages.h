#pragma once

#include "device/pinned_host.h"

namespace unstarve::device::emulated {

/// What the emulated GPUs of this process take for page-locked: the counterpart of cuMemHostAlloc,
/// as all devices share it there too. Nothing is locked, for their copies read nothing.
class PinnedPages final : public PinnedHost {
 public:
  Result<void*> allocate(std::size_t bytes) override;
  void release(void* memory) noexcept override;
  std::string name() const override { return "the emulated GPU"; }
};

/// Whether `address` lies in memory that a PinnedPages gave out and has not taken back: the
/// counterpart of cuPointerGetAttribute.
bool is_pinned(const void* address);

}  // namespace unstarve::device::emulated
