#include "feed/transfer/pinned_memory.h"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace unstarve::feed {

PinnedMemory::PinnedMemory(std::unique_ptr<device::PinnedHost> host)
    : host_(std::move(host)), owner_(::getpid()) {}

void* PinnedMemory::allocate_pinned(std::size_t bytes) {
  {
    // Room first: nothing may fail between the driver's success and the note of it.
    MutexLock lock(mutex_);
    pinned_.reserve(pinned_.size() + 1 + pinned_.size() / 2);
  }
  const Result<void*> memory = host_->allocate(bytes);
  MutexLock lock(mutex_);
  if (memory) {
    try {
      pinned_.push_back(*memory);
    } catch (const std::exception&) {
      host_->release(*memory);
      throw;
    }
    return *memory;
  }
  if (why_pageable_.empty()) why_pageable_ = memory.error().message;
  return nullptr;
}

void* PinnedMemory::allocate(std::size_t bytes) noexcept {
  try {
    if (void* memory = allocate_pinned(bytes); memory != nullptr) return memory;
  } catch (const std::exception&) {
    return nullptr;  // no memory even for the note: the slot would not fit either
  }
  void* memory = plain_.allocate(bytes);
  MutexLock lock(mutex_);
  if (memory != nullptr) ++pageable_;
  return memory;
}

void PinnedMemory::release(void* memory) noexcept {
  if (::getpid() != owner_) return;
  {
    MutexLock lock(mutex_);
    const auto pinned = std::find(pinned_.begin(), pinned_.end(), memory);
    if (pinned == pinned_.end()) {
      --pageable_;
      plain_.release(memory);
      return;
    }
    *pinned = pinned_.back();
    pinned_.pop_back();
  }
  host_->release(memory);
}

PinnedMemory::Slots PinnedMemory::slots() const {
  MutexLock lock(mutex_);
  return {pinned_.size(), pageable_};
}

std::string PinnedMemory::why_pageable() const {
  MutexLock lock(mutex_);
  return why_pageable_;
}

}  // namespace unstarve::feed
