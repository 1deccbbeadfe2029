#include "emulated/abi/driver_abi.h"
#include "emulated/context/memory_pool.h"
#include "emulated/runtime/runtime_call.h"

/// cudaMallocAsync and its pools.
namespace unstarve::emulated {
namespace {

/// `act(pool)` with the pool that a program means.
template <class Act>
Outcome on_pool(const void* handle, Act act) {
  const Outcome why = usable();
  if (why != Outcome::kSuccess) return why;
  MemoryPool* const pool = find_pool(handle);
  return pool != nullptr ? act(pool) : Outcome::kInvalidValue;
}

Outcome tell(void** out, MemoryPool* pool) { return answer(out, static_cast<void*>(pool)); }

}  // namespace

UNSTARVE_CUDART cudaMallocAsync(void** address, std::size_t bytes, void* stream) {
  const ApiCall call(Call::kMallocAsync);
  return remember(on_stream(stream, [&](Gpu& gpu, Stream* found) {
    return allocate_from(current_pool(gpu.index()), found, bytes, address);
  }));
}

UNSTARVE_CUDART cudaMallocFromPoolAsync(void** address, std::size_t bytes, void* pool,
                                        void* stream) {
  const ApiCall call(Call::kMallocAsync);
  return remember(on_pool(pool, [&](MemoryPool* known) {
    return on_stream(
        stream, [&](Gpu&, Stream* found) { return allocate_from(known, found, bytes, address); });
  }));
}

UNSTARVE_CUDART cudaFreeAsync(void* address, void* stream) {
  const ApiCall call(Call::kFreeAsync);
  return remember(
      on_stream(stream, [&](Gpu&, Stream* found) { return free_to_pool(found, address); }));
}

UNSTARVE_CUDART cudaDeviceGetDefaultMemPool(void** pool, int device) {
  return remember(
      on_device(device, [&](Gpu& gpu) { return tell(pool, default_pool(gpu.index())); }));
}

UNSTARVE_CUDART cudaDeviceGetMemPool(void** pool, int device) {
  return remember(
      on_device(device, [&](Gpu& gpu) { return tell(pool, current_pool(gpu.index())); }));
}

UNSTARVE_CUDART cudaDeviceSetMemPool(int device, void* pool) {
  return remember(on_device(device, [&](Gpu& gpu) {
    return on_pool(pool, [&](MemoryPool* known) {
      if (gpu_of(known) != gpu.index()) return Outcome::kInvalidValue;
      set_current_pool(gpu.index(), known);
      return Outcome::kSuccess;
    });
  }));
}

UNSTARVE_CUDART cudaMemPoolCreate(void** pool, const cuda::MemoryPoolProperties* properties) {
  if (pool == nullptr || properties == nullptr) return remember(Outcome::kInvalidValue);
  if (properties->location.type != cuda::kLocationDevice) return remember(Outcome::kNotSupported);
  return remember(on_device(properties->location.id, [&](Gpu& gpu) {
    MemoryPool* made = nullptr;
    const Outcome outcome = create_pool(gpu.index(), &made);
    return outcome == Outcome::kSuccess ? tell(pool, made) : outcome;
  }));
}

UNSTARVE_CUDART cudaMemPoolDestroy(void* pool) {
  return remember(on_pool(pool, [](MemoryPool* known) { return destroy_pool(known); }));
}

UNSTARVE_CUDART cudaMemPoolGetAttribute(void* pool, PoolAttribute attribute, void* value) {
  return remember(
      on_pool(pool, [&](MemoryPool* known) { return get_attribute(known, attribute, value); }));
}

UNSTARVE_CUDART cudaMemPoolSetAttribute(void* pool, PoolAttribute attribute, void* value) {
  return remember(
      on_pool(pool, [&](MemoryPool* known) { return set_attribute(known, attribute, value); }));
}

UNSTARVE_CUDART cudaMemPoolTrimTo(void* pool, std::size_t) {
  return remember(on_pool(pool, [](MemoryPool*) { return Outcome::kSuccess; }));
}

UNSTARVE_CUDART cudaMemPoolSetAccess(void* pool, const cuda::MemoryAccess* access,
                                     std::size_t count) {
  return remember(on_pool(pool, [&](MemoryPool*) {
    for (std::size_t i = 0; i < count; ++i) {
      if (access == nullptr || gpu_at(access[i].location.id) == nullptr) {
        return Outcome::kInvalidValue;
      }
    }
    return Outcome::kSuccess;
  }));
}

UNSTARVE_CUDART cudaMemPoolGetAccess(int* flags, void* pool, const cuda::MemoryLocation*) {
  constexpr int kReadWrite = 3;  // any GPU of the machine reaches it
  return remember(on_pool(pool, [&](MemoryPool*) { return answer(flags, kReadWrite); }));
}

}  // namespace unstarve::emulated
