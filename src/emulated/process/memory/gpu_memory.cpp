#include <sys/mman.h>

#include <algorithm>

#include "emulated/process/process_gpu.h"
#include "emulated/process/records/recorder_state.h"

// Memory of the device, and of the host as far as CUDA knows it.
namespace unstarve::emulated {

namespace {

constexpr std::uintptr_t kPageMask = 4095;
constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, since Linux 5.14

std::uint64_t unsigned_bytes(std::int64_t bytes) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, bytes));
}

ProcessMemory* memory_of_process() {
  Machine* machine = Machine::existing();
  return machine != nullptr ? &machine->memory : nullptr;
}

}  // namespace

/// Of this process's own allocations.
std::uint64_t ProcessGpu::memory_limit() const {
  const std::uint64_t taken = unsigned_bytes(profile().context_bytes) + shared_->memory_of_others();
  const std::uint64_t total = unsigned_bytes(profile().total_memory_bytes);
  return total > taken ? total - taken : 0;
}

void ProcessGpu::publish_memory() {
  const std::uint64_t used =
      unsigned_bytes(profile().context_bytes) + machine_.memory.used_bytes(index_);
  shared_->use().memory_bytes.store(used);
  Recorder::get().memory_changed(index_, used + shared_->memory_of_others());
}

Outcome ProcessGpu::allocate(std::size_t bytes, MemoryPlace place, void** out) {
  use();
  if (place != MemoryPlace::kDevice && place != MemoryPlace::kManaged) {
    return Outcome::kInvalidValue;
  }
  {
    MutexLock lock(machine_.mutex);
    if (const Outcome free = machine_.check_unsafe_call(); free != Outcome::kSuccess) return free;
  }
  return allocate_at(bytes, place, out);
}

Outcome ProcessGpu::allocate_at(std::size_t bytes, MemoryPlace place, void** out) {
  *out = nullptr;
  if (bytes == 0) return Outcome::kSuccess;
  const Outcome outcome = machine_.memory.allocate(index_, place, bytes, memory_limit(), out);
  if (outcome == Outcome::kSuccess) publish_memory();
  return outcome;
}

Outcome ProcessGpu::allocate_in_order(Stream* /*stream*/, std::size_t bytes, void** out) {
  use();
  return allocate_at(bytes, MemoryPlace::kDevice, out);
}

Outcome ProcessGpu::free(void* address) {
  if (address == nullptr) return Outcome::kSuccess;
  const Allocation allocation = machine_.memory.find(address);
  if (allocation.base != reinterpret_cast<std::uintptr_t>(address)) return Outcome::kInvalidValue;
  if (const Outcome waited = synchronize_device(); waited != Outcome::kSuccess) return waited;
  return free_in_order(nullptr, address);
}

Outcome ProcessGpu::free_in_order(Stream* /*stream*/, void* address) {
  if (address == nullptr) return Outcome::kSuccess;
  const auto freed = machine_.memory.remove(address, true, ProcessMemory::Owner::kUs);
  if (!freed) return Outcome::kInvalidValue;
  machine_.gpu(freed->gpu)->publish_memory();
  return Outcome::kSuccess;
}

Outcome ProcessGpu::reset() {
  if (const Outcome waited = synchronize_device(); waited != Outcome::kSuccess) return waited;
  machine_.memory.remove_all(index_);
  publish_memory();
  return Outcome::kSuccess;
}

void ProcessGpu::memory_info(std::size_t* free_bytes, std::size_t* total_bytes) {
  use();
  const std::uint64_t limit = memory_limit();
  const std::uint64_t used = machine_.memory.used_bytes(index_);
  *total_bytes = unsigned_bytes(profile().total_memory_bytes);
  *free_bytes = limit > used ? limit - used : 0;
}

Outcome ProcessGpu::take_memory(std::size_t bytes) {
  use();
  if (!machine_.memory.take(index_, bytes, memory_limit())) return Outcome::kOutOfMemory;
  publish_memory();
  return Outcome::kSuccess;
}

void ProcessGpu::give_memory(std::size_t bytes) {
  machine_.memory.give(index_, bytes);
  publish_memory();
}

Outcome ProcessGpu::know_range(void* address, std::size_t bytes) {
  const bool added = machine_.memory.add({.place = MemoryPlace::kDevice,
                                          .base = reinterpret_cast<std::uintptr_t>(address),
                                          .bytes = bytes,
                                          .gpu = index_});
  return added ? Outcome::kSuccess : Outcome::kInvalidValue;
}

Outcome ProcessGpu::forget_range(void* address) {
  const auto removed = machine_.memory.remove(address, true, ProcessMemory::Owner::kProgram);
  return removed ? Outcome::kSuccess : Outcome::kInvalidValue;
}

// ---- host memory

Outcome allocate_pinned(std::size_t bytes, void** out) {
  Gpu* gpu = current_gpu();
  if (gpu == nullptr) return usable();
  *out = nullptr;
  if (bytes == 0) return Outcome::kSuccess;
  return memory_of_process()->allocate(gpu->index(), MemoryPlace::kPinnedHost, bytes, 0, out);
}

Outcome free_pinned(void* address) {
  if (address == nullptr) return Outcome::kSuccess;
  ProcessMemory* memory = memory_of_process();
  if (memory == nullptr) return usable();
  const Allocation allocation = memory->find(address);
  if (allocation.place != MemoryPlace::kPinnedHost || allocation.registered ||
      allocation.base != reinterpret_cast<std::uintptr_t>(address)) {
    return Outcome::kInvalidValue;
  }
  // Copies from or to it may be under way.
  if (const Outcome waited = gpu_at(allocation.gpu)->synchronize_device();
      waited != Outcome::kSuccess) {
    return waited;
  }
  const auto freed = memory->remove(address, false, ProcessMemory::Owner::kUs);
  return freed ? Outcome::kSuccess : Outcome::kInvalidValue;
}

Outcome register_host(void* address, std::size_t bytes) {
  Gpu* gpu = current_gpu();
  if (gpu == nullptr) return usable();
  if (address == nullptr || bytes == 0) return Outcome::kInvalidValue;
  // Resident, as pinned pages are; memory that cannot be written, of a file say, stays as it is.
  const std::uintptr_t page = reinterpret_cast<std::uintptr_t>(address) & ~kPageMask;
  ::madvise(reinterpret_cast<void*>(page),
            bytes + (reinterpret_cast<std::uintptr_t>(address) & kPageMask), kPopulateWrite);
  const bool added = memory_of_process()->add({.place = MemoryPlace::kPinnedHost,
                                               .base = reinterpret_cast<std::uintptr_t>(address),
                                               .bytes = bytes,
                                               .gpu = gpu->index(),
                                               .registered = true});
  return added ? Outcome::kSuccess : Outcome::kHostMemoryAlreadyRegistered;
}

Outcome unregister_host(void* address) {
  ProcessMemory* memory = memory_of_process();
  if (memory == nullptr) return usable();
  const Allocation allocation = memory->find(address);
  if (!allocation.registered || allocation.base != reinterpret_cast<std::uintptr_t>(address)) {
    return Outcome::kHostMemoryNotRegistered;
  }
  if (const Outcome waited = gpu_at(allocation.gpu)->synchronize_device();
      waited != Outcome::kSuccess) {
    return waited;
  }
  const auto removed = memory->remove(address, false, ProcessMemory::Owner::kProgram);
  return removed ? Outcome::kSuccess : Outcome::kHostMemoryNotRegistered;
}

Allocation find_allocation(const void* address) {
  ProcessMemory* memory = memory_of_process();
  return memory != nullptr ? memory->find(address) : Allocation{};
}

std::size_t read_kept(const void* address, void* target, std::size_t bytes) {
  ProcessMemory* memory = memory_of_process();
  return memory != nullptr ? memory->read_kept(address, target, bytes) : 0;
}

void write_kept(void* address, const void* source, std::size_t bytes) {
  if (ProcessMemory* memory = memory_of_process()) memory->write_kept(address, source, bytes);
}

std::vector<KeptPiece> kept_pieces(const void* address, std::size_t bytes) {
  ProcessMemory* memory = memory_of_process();
  return memory != nullptr ? memory->kept_pieces(address, bytes) : std::vector<KeptPiece>();
}

void write_kept_late(void* address, LateBytes bytes) {
  if (ProcessMemory* memory = memory_of_process()) memory->write_kept(address, std::move(bytes));
}

void keep_more() {
  if (ProcessMemory* memory = memory_of_process()) memory->keep_more(KeptBytes::kOfTalkers);
}

}  // namespace unstarve::emulated
