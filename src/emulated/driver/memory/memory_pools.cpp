#include "emulated/context/memory_pool.h"

#include "emulated/driver/driver_call.h"

/// cuMemAllocAsync and its pools.
namespace unstarve::emulated {
namespace {

using cuda::DevicePointer;

/// `act(pool)` with the pool that a program means.
template <class Act>
Outcome on_pool(const void* handle, Act act) {
  const Outcome why = usable();
  if (why != Outcome::kSuccess) return why;
  MemoryPool* const pool = find_pool(handle);
  return pool != nullptr ? act(pool) : Outcome::kInvalidValue;
}

Outcome tell(void** out, MemoryPool* pool) { return answer(out, static_cast<void*>(pool)); }

Outcome allocate(DevicePointer* out, std::size_t bytes, MemoryPool* pool, Stream* stream) {
  if (out == nullptr || bytes == 0) return Outcome::kInvalidValue;
  void* address = nullptr;
  const Outcome outcome = allocate_from(pool, stream, bytes, &address);
  if (outcome == Outcome::kSuccess) *out = pointer_to(address);
  return outcome;
}

}  // namespace

UNSTARVE_CUDA cuMemAllocAsync(DevicePointer* pointer, std::size_t bytes, void* stream) {
  const DriverCall call(Call::kMallocAsync);
  return on_stream(stream, [&](Gpu& gpu, Stream* found) {
    return allocate(pointer, bytes, current_pool(gpu.index()), found);
  });
}

UNSTARVE_CUDA cuMemAllocFromPoolAsync(DevicePointer* pointer, std::size_t bytes, void* pool,
                                      void* stream) {
  const DriverCall call(Call::kMallocAsync);
  return on_pool(pool, [&](MemoryPool* known) {
    return on_stream(stream,
                     [&](Gpu&, Stream* found) { return allocate(pointer, bytes, known, found); });
  });
}

UNSTARVE_CUDA cuMemFreeAsync(DevicePointer pointer, void* stream) {
  const DriverCall call(Call::kFreeAsync);
  return on_stream(stream,
                   [&](Gpu&, Stream* found) { return free_to_pool(found, address_of(pointer)); });
}

UNSTARVE_CUDA cuDeviceGetDefaultMemPool(void** pool, int device) {
  return on_device(device, [&](Gpu& gpu) { return tell(pool, default_pool(gpu.index())); });
}

UNSTARVE_CUDA cuDeviceGetMemPool(void** pool, int device) {
  return on_device(device, [&](Gpu& gpu) { return tell(pool, current_pool(gpu.index())); });
}

UNSTARVE_CUDA cuDeviceSetMemPool(int device, void* pool) {
  return on_device(device, [&](Gpu& gpu) {
    return on_pool(pool, [&](MemoryPool* known) {
      if (gpu_of(known) != gpu.index()) return Outcome::kInvalidValue;
      set_current_pool(gpu.index(), known);
      return Outcome::kSuccess;
    });
  });
}

UNSTARVE_CUDA cuMemPoolCreate(void** pool, const cuda::MemoryPoolProperties* properties) {
  if (pool == nullptr || properties == nullptr) return Outcome::kInvalidValue;
  if (properties->location.type != cuda::kLocationDevice) return Outcome::kNotSupported;
  return on_device(properties->location.id, [&](Gpu& gpu) {
    MemoryPool* made = nullptr;
    const Outcome outcome = create_pool(gpu.index(), &made);
    return outcome == Outcome::kSuccess ? tell(pool, made) : outcome;
  });
}

UNSTARVE_CUDA cuMemPoolDestroy(void* pool) {
  return on_pool(pool, [](MemoryPool* known) { return destroy_pool(known); });
}

UNSTARVE_CUDA cuMemPoolGetAttribute(void* pool, PoolAttribute attribute, void* value) {
  return on_pool(pool, [&](MemoryPool* known) { return get_attribute(known, attribute, value); });
}

UNSTARVE_CUDA cuMemPoolSetAttribute(void* pool, PoolAttribute attribute, void* value) {
  return on_pool(pool, [&](MemoryPool* known) { return set_attribute(known, attribute, value); });
}

UNSTARVE_CUDA cuMemPoolTrimTo(void* pool, std::size_t) {
  return on_pool(pool, [](MemoryPool*) { return Outcome::kSuccess; });
}

UNSTARVE_CUDA cuMemPoolSetAccess(void* pool, const cuda::MemoryAccess* access, std::size_t count) {
  return on_pool(pool, [&](MemoryPool*) {
    for (std::size_t i = 0; i < count; ++i) {
      if (access == nullptr || gpu_at(access[i].location.id) == nullptr) {
        return Outcome::kInvalidValue;
      }
    }
    return Outcome::kSuccess;
  });
}

}  // namespace unstarve::emulated
