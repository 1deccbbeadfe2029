#include "observe/inside/cupti/buffer_pool.h"

#include <sys/mman.h>

#include <algorithm>

namespace unstarve::recording {

namespace {

// A kernel of 216 bytes with its launch of 40.
constexpr std::size_t kUsualRecordBytes = 128;

alignas(64) std::uint8_t discarded[64 * 1024];

}  // namespace

BufferPool::BufferPool() {
  MutexLock lock(mutex_);
  for (std::size_t i = 0; i < kReady; ++i) make(slots_[i]);
}

bool BufferPool::make(Slot& slot) {
  // Populated: the pages are not to be found on the job's path. A child of fork() has no use of it.
  void* const memory = ::mmap(nullptr, kBufferBytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) return false;
  slot.bytes = static_cast<std::uint8_t*>(memory);
  slot.state = State::kFree;
  return true;
}

std::uint8_t* BufferPool::take() {
  MutexLock lock(mutex_);
  for (Slot& slot : slots_) {
    if (slot.state == State::kAbsent && !make(slot)) break;
    if (slot.state != State::kFree) continue;
    slot.state = State::kTaken;
    return slot.bytes;
  }
  return discarded;
}

std::size_t BufferPool::bytes_of(const std::uint8_t* taken) {
  return taken == discarded ? sizeof(discarded) : kBufferBytes;
}

void BufferPool::filled(std::uint8_t* buffer, std::size_t valid) {
  if (buffer == discarded) {
    thrown_away_ += valid / kUsualRecordBytes;
    return;
  }
  MutexLock lock(mutex_);
  for (Slot& slot : slots_) {
    if (slot.bytes != buffer || slot.state != State::kTaken) continue;
    slot.state = State::kFilled;
    slot.valid = std::min(valid, kBufferBytes);
    slot.order = ++filled_count_;
    return;
  }
}

BufferPool::Filled BufferPool::next_filled() {
  MutexLock lock(mutex_);
  const Slot* oldest = nullptr;
  for (const Slot& slot : slots_) {
    if (slot.state != State::kFilled) continue;
    if (oldest == nullptr || slot.order < oldest->order) oldest = &slot;
  }
  if (oldest == nullptr) return {};
  return {oldest->bytes, oldest->valid};
}

void BufferPool::free(std::uint8_t* buffer) {
  MutexLock lock(mutex_);
  for (Slot& slot : slots_) {
    if (slot.bytes == buffer && slot.state == State::kFilled) slot.state = State::kFree;
  }
}

std::size_t BufferPool::outstanding() {
  MutexLock lock(mutex_);
  return static_cast<std::size_t>(std::count_if(
      slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.state == State::kTaken; }));
}

}  // namespace unstarve::recording
