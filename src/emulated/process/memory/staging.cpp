#include "emulated/process/memory/staging.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace unstarve::emulated {

namespace {

/// One thread's buffers, kept for its next copy. The third holds zeros.
struct Buffers {
  char* bytes = nullptr;
  std::size_t next = 0;

  Buffers() {
    void* memory = ::mmap(nullptr, 3 * Staging::kBufferBytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) bytes = static_cast<char*>(memory);
  }
  ~Buffers() {
    if (bytes != nullptr) ::munmap(bytes, 3 * Staging::kBufferBytes);
    bytes = nullptr;
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
};

Buffers& buffers() {
  static thread_local Buffers all;
  return all;
}

/// Hands each piece of a row within bytes [from, from + bytes) of a copy to `each`, with its place
/// behind `from`.
template <class Each>
void for_rows(const Copy2d& copy, std::size_t from, std::size_t bytes, Each each) {
  std::size_t done = 0;
  while (done < bytes) {
    const std::size_t row = (from + done) / copy.width_bytes;
    const std::size_t column = (from + done) % copy.width_bytes;
    const std::size_t piece = std::min(copy.width_bytes - column, bytes - done);
    each(row, column, piece, done);
    done += piece;
  }
}

}  // namespace

void Staging::read(const Copy2d& copy, std::size_t from, std::size_t bytes) {
  Buffers& all = buffers();
  if (all.bytes == nullptr) return;
  char* buffer = all.bytes + all.next * kBufferBytes;
  all.next = 1 - all.next;
  for_rows(copy, from, bytes,
           [&](std::size_t row, std::size_t column, std::size_t piece, std::size_t at) {
             const auto* source = static_cast<const char*>(copy.source);
             std::memcpy(buffer + at, source + row * copy.source_pitch + column, piece);
           });
}

void Staging::write(const Copy2d& copy, std::size_t from, std::size_t bytes) {
  const Buffers& all = buffers();
  const char* zeros = all.bytes != nullptr ? all.bytes + 2 * kBufferBytes : nullptr;
  for_rows(copy, from, bytes,
           [&](std::size_t row, std::size_t column, std::size_t piece, std::size_t at) {
             char* target = static_cast<char*>(copy.target) + row * copy.target_pitch + column;
             if (zeros != nullptr) {
               std::memcpy(target, zeros + at, piece);
             } else {
               std::memset(target, 0, piece);
             }
           });
}

void Staging::wait_for_buffer(Machine& machine, LaneId lane) {
  if (has_before_) machine.wait_for({&before_, 1}, machine.rule());
  MutexLock lock(machine.mutex);
  before_ = {lane, machine.schedule.enqueued(lane)};
  has_before_ = true;
}

}  // namespace unstarve::emulated
