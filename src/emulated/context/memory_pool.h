#pragma once

#include <cstddef>
#include <cstdint>

#include "emulated/process/gpu.h"

/// Pools of cudaMallocAsync. What is freed is free when its stream has got there; sooner only for
/// the same stream, and when there is no other memory. A pool keeps nothing back beyond that, so
/// that its reserved bytes are its used bytes. The attributes that say otherwise are kept and
/// answered.
namespace unstarve::emulated {

/// A cudaMemPool_t, a CUmemoryPool.
class MemoryPool;

/// cudaMemPoolAttr, CUmemPool_attribute.
enum class PoolAttribute : int {
  kReuseFollowEvents = 1,
  kReuseOpportunistic = 2,
  kReuseInternal = 3,
  kReleaseThreshold = 4,
  kReservedBytes = 5,
  kReservedBytesHigh = 6,
  kUsedBytes = 7,
  kUsedBytesHigh = 8,
};

MemoryPool* default_pool(int gpu);
/// The one that cudaMallocAsync takes: the default until another is set.
MemoryPool* current_pool(int gpu);
void set_current_pool(int gpu, MemoryPool* pool);
/// nullptr: no such pool (any more).
MemoryPool* find_pool(const void* handle);
int gpu_of(const MemoryPool* pool);

Outcome create_pool(int gpu, MemoryPool** out);
Outcome destroy_pool(MemoryPool* pool);
/// `value` points at an int for the first three attributes, at 64 bits for the others.
Outcome get_attribute(const MemoryPool* pool, PoolAttribute attribute, void* value);
Outcome set_attribute(MemoryPool* pool, PoolAttribute attribute, const void* value);

Outcome allocate_from(MemoryPool* pool, Stream* stream, std::size_t bytes, void** out);
/// cudaFreeAsync, of memory of a pool or of any other.
Outcome free_to_pool(Stream* stream, void* address);
/// Gives back what streams have got to by now.
void settle_pools();
/// `address` is freed in another way.
void forget_pool_memory(const void* address);

}  // namespace unstarve::emulated
