#include "emulated/context/memory_pool.h"

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"

namespace unstarve::emulated {

class MemoryPool {
 public:
  explicit MemoryPool(int of_gpu) : gpu(of_gpu) {}

  const int gpu;
  std::array<int, 4> reuse = {1, 1, 1, 1};  // by PoolAttribute; 0 unused
  std::uint64_t release_threshold = 0;
  std::uint64_t used = 0;
  std::uint64_t used_high = 0;
  std::uint64_t reserved_high = 0;
};

namespace {

struct PoolMemory {
  MemoryPool* pool = nullptr;
  std::size_t bytes = 0;
};

/// Freed by a stream that has not got there yet, as `passed` tells.
struct Freed {
  void* address = nullptr;
  Stream* stream = nullptr;
  Event* passed = nullptr;
};

struct Pools {
  Mutex mutex;
  std::vector<Freed> freed UNSTARVE_GUARDED_BY(mutex);  // in the order of the calls
  std::vector<std::unique_ptr<MemoryPool>> all UNSTARVE_GUARDED_BY(mutex);
  std::unordered_map<int, MemoryPool*> defaults UNSTARVE_GUARDED_BY(mutex);
  std::unordered_map<int, MemoryPool*> current UNSTARVE_GUARDED_BY(mutex);
  std::unordered_map<const void*, PoolMemory> memory UNSTARVE_GUARDED_BY(mutex);
};

Pools& pools() {
  static auto* const made = new Pools;  // never destroyed: tensors are freed while a process ends
  return *made;
}

MemoryPool* default_locked(Pools& here, int gpu) UNSTARVE_REQUIRES(here.mutex) {
  MemoryPool*& pool = here.defaults[gpu];
  if (pool == nullptr) {
    here.all.push_back(std::make_unique<MemoryPool>(gpu));
    pool = here.all.back().get();
  }
  return pool;
}

void take(MemoryPool& pool, std::size_t bytes) {
  pool.used += bytes;
  pool.used_high = std::max(pool.used_high, pool.used);
  pool.reserved_high = std::max(pool.reserved_high, pool.used);
}

void give_back(const Freed& freed) {
  Gpu* const gpu = gpu_at(find_allocation(freed.address).gpu);
  if (gpu != nullptr) static_cast<void>(gpu->free_in_order(freed.stream, freed.address));
  static_cast<void>(destroy_event(freed.passed));
}

/// Takes what `is_over` says of the freed memory and gives it back; whether there was any.
template <class Over>
bool settle(Over is_over) {
  std::vector<Freed> over;
  {
    const MutexLock lock(pools().mutex);
    std::vector<Freed>& freed = pools().freed;
    const auto kept = std::stable_partition(freed.begin(), freed.end(),
                                            [&](const Freed& block) { return !is_over(block); });
    over.assign(kept, freed.end());
    freed.erase(kept, freed.end());
  }
  for (const Freed& block : over) give_back(block);
  return !over.empty();
}

bool is_freed(const void* address) {
  Pools& here = pools();
  const MutexLock lock(here.mutex);
  return std::any_of(here.freed.begin(), here.freed.end(),
                     [address](const Freed& block) { return block.address == address; });
}

bool has_passed(const Freed& freed) { return query_event(freed.passed) != Outcome::kNotReady; }

Outcome allocate_settled(Stream* stream, std::size_t bytes, void** out) {
  settle_pools();
  Gpu& gpu = *gpu_of(stream);
  Outcome outcome = gpu.allocate_in_order(stream, bytes, out);
  if (outcome != Outcome::kOutOfMemory) return outcome;
  // What this stream freed is its own to use again; what others freed has to be waited for.
  if (settle([&](const Freed& freed) { return freed.stream == stream; })) {
    outcome = gpu.allocate_in_order(stream, bytes, out);
  }
  if (outcome != Outcome::kOutOfMemory) return outcome;
  const auto wait = [](const Freed& freed) {
    return synchronize_event(freed.passed) == Outcome::kSuccess;
  };
  return settle(wait) ? gpu.allocate_in_order(stream, bytes, out) : outcome;
}

bool is_reuse(PoolAttribute attribute) {
  return attribute >= PoolAttribute::kReuseFollowEvents &&
         attribute <= PoolAttribute::kReuseInternal;
}

}  // namespace

MemoryPool* default_pool(int gpu) {
  const MutexLock lock(pools().mutex);
  return default_locked(pools(), gpu);
}

MemoryPool* current_pool(int gpu) {
  const MutexLock lock(pools().mutex);
  const auto found = pools().current.find(gpu);
  return found != pools().current.end() ? found->second : default_locked(pools(), gpu);
}

void set_current_pool(int gpu, MemoryPool* pool) {
  const MutexLock lock(pools().mutex);
  pools().current[gpu] = pool;
}

MemoryPool* find_pool(const void* handle) {
  const MutexLock lock(pools().mutex);
  for (const auto& pool : pools().all) {
    if (pool.get() == handle) return pool.get();
  }
  return nullptr;
}

int gpu_of(const MemoryPool* pool) { return pool->gpu; }

Outcome create_pool(int gpu, MemoryPool** out) {
  if (out == nullptr) return Outcome::kInvalidValue;
  const MutexLock lock(pools().mutex);
  pools().all.push_back(std::make_unique<MemoryPool>(gpu));
  *out = pools().all.back().get();
  return Outcome::kSuccess;
}

Outcome destroy_pool(MemoryPool* pool) {
  Pools& here = pools();
  const MutexLock lock(here.mutex);
  if (here.defaults[pool->gpu] == pool) return Outcome::kInvalidValue;
  if (here.current[pool->gpu] == pool) here.current.erase(pool->gpu);
  // Its memory stays until it is freed, and counts for nobody.
  for (auto& [address, memory] : here.memory) {
    if (memory.pool == pool) memory.pool = nullptr;
  }
  here.all.erase(std::find_if(here.all.begin(), here.all.end(),
                              [&](const auto& known) { return known.get() == pool; }));
  return Outcome::kSuccess;
}

Outcome get_attribute(const MemoryPool* pool, PoolAttribute attribute, void* value) {
  if (value == nullptr) return Outcome::kInvalidValue;
  const MutexLock lock(pools().mutex);
  if (is_reuse(attribute)) {
    *static_cast<int*>(value) = pool->reuse[static_cast<std::size_t>(attribute)];
    return Outcome::kSuccess;
  }
  auto& number = *static_cast<std::uint64_t*>(value);
  switch (attribute) {
    case PoolAttribute::kReleaseThreshold: number = pool->release_threshold; break;
    case PoolAttribute::kReservedBytes:
    case PoolAttribute::kUsedBytes: number = pool->used; break;
    case PoolAttribute::kReservedBytesHigh: number = pool->reserved_high; break;
    case PoolAttribute::kUsedBytesHigh: number = pool->used_high; break;
    default: return Outcome::kInvalidValue;
  }
  return Outcome::kSuccess;
}

Outcome set_attribute(MemoryPool* pool, PoolAttribute attribute, const void* value) {
  if (value == nullptr) return Outcome::kInvalidValue;
  const MutexLock lock(pools().mutex);
  if (is_reuse(attribute)) {
    pool->reuse[static_cast<std::size_t>(attribute)] = *static_cast<const int*>(value);
    return Outcome::kSuccess;
  }
  const auto number = *static_cast<const std::uint64_t*>(value);
  switch (attribute) {
    case PoolAttribute::kReleaseThreshold: pool->release_threshold = number; break;
    // The highest so far can be set back, to nothing but what it is now.
    case PoolAttribute::kReservedBytesHigh:
      if (number != 0) return Outcome::kInvalidValue;
      pool->reserved_high = pool->used;
      break;
    case PoolAttribute::kUsedBytesHigh:
      if (number != 0) return Outcome::kInvalidValue;
      pool->used_high = pool->used;
      break;
    default: return Outcome::kInvalidValue;
  }
  return Outcome::kSuccess;
}

Outcome allocate_from(MemoryPool* pool, Stream* stream, std::size_t bytes, void** out) {
  if (out == nullptr) return Outcome::kInvalidValue;
  *out = nullptr;
  if (bytes == 0) return Outcome::kSuccess;
  const Outcome outcome = allocate_settled(stream, bytes, out);
  if (outcome != Outcome::kSuccess || *out == nullptr) return outcome;
  const MutexLock lock(pools().mutex);
  take(*pool, bytes);
  pools().memory[*out] = {pool, bytes};
  return outcome;
}

void forget_pool_memory(const void* address) {
  const MutexLock lock(pools().mutex);
  const auto found = pools().memory.find(address);
  if (found == pools().memory.end()) return;
  if (found->second.pool != nullptr) found->second.pool->used -= found->second.bytes;
  pools().memory.erase(found);
}

void settle_pools() { settle(has_passed); }

Outcome free_to_pool(Stream* stream, void* address) {
  if (address == nullptr) return Outcome::kSuccess;
  const Allocation known = find_allocation(address);
  if (known.base != reinterpret_cast<std::uintptr_t>(address)) return Outcome::kInvalidValue;
  if (is_freed(address)) return Outcome::kInvalidValue;
  forget_pool_memory(address);
  Event* passed = nullptr;
  // A captured free is one of the graph's, whose memory is the graph's too: nothing to wait for.
  const bool waits = !capture_of(stream).active &&
                     create_event(false, false, &passed) == Outcome::kSuccess &&
                     record_event(passed, stream) == Outcome::kSuccess;
  if (!waits) return gpu_of(stream)->free_in_order(stream, address);
  {
    const MutexLock lock(pools().mutex);
    pools().freed.push_back({address, stream, passed});
  }
  settle_pools();
  return Outcome::kSuccess;
}

}  // namespace unstarve::emulated
