#include "emulated/context/memory_pool.h"
#include "emulated/driver/driver_call.h"

/// Device, managed and host memory.
namespace unstarve::emulated {
namespace {

Outcome allocate(cuda::DevicePointer* out, std::size_t bytes, MemoryPlace place) {
  if (out == nullptr || bytes == 0) return Outcome::kInvalidValue;
  return on_context([&](Gpu& gpu) {
    void* address = nullptr;
    const Outcome outcome = gpu.allocate(bytes, place, &address);
    if (outcome == Outcome::kSuccess) *out = pointer_to(address);
    return outcome;
  });
}

Outcome allocate_host(void** out, std::size_t bytes) {
  if (out == nullptr || bytes == 0) return Outcome::kInvalidValue;
  return on_context([&](Gpu&) { return allocate_pinned(bytes, out); });
}

bool is_pinned(const void* address) {
  return find_allocation(address).place == MemoryPlace::kPinnedHost;
}

}  // namespace

UNSTARVE_CUDA cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total_bytes) {
  return on_context([&](Gpu& gpu) {
    if (free_bytes == nullptr || total_bytes == nullptr) return Outcome::kInvalidValue;
    settle_pools();
    gpu.memory_info(free_bytes, total_bytes);
    return Outcome::kSuccess;
  });
}

UNSTARVE_CUDA cuMemAlloc_v2(cuda::DevicePointer* pointer, std::size_t bytes) {
  const DriverCall call(Call::kMalloc);
  return allocate(pointer, bytes, MemoryPlace::kDevice);
}

UNSTARVE_CUDA cuMemAllocPitch_v2(cuda::DevicePointer* pointer, std::size_t* pitch,
                                 std::size_t width, std::size_t height, unsigned) {
  const DriverCall call(Call::kMalloc);
  if (pitch == nullptr) return Outcome::kInvalidValue;
  *pitch = (width + 511) / 512 * 512;
  return allocate(pointer, *pitch * height, MemoryPlace::kDevice);
}

UNSTARVE_CUDA cuMemAllocManaged(cuda::DevicePointer* pointer, std::size_t bytes, unsigned) {
  const DriverCall call(Call::kMalloc);
  return allocate(pointer, bytes, MemoryPlace::kManaged);
}

UNSTARVE_CUDA cuMemFree_v2(cuda::DevicePointer pointer) {
  const DriverCall call(Call::kFree);
  return on_context([&](Gpu& current) {
    if (pointer == 0) return Outcome::kSuccess;
    Gpu* const owner = gpu_at(find_allocation(address_of(pointer)).gpu);
    const Outcome outcome = (owner != nullptr ? *owner : current).free(address_of(pointer));
    if (outcome == Outcome::kSuccess) forget_pool_memory(address_of(pointer));
    return outcome;
  });
}

UNSTARVE_CUDA cuMemGetAddressRange_v2(cuda::DevicePointer* base, std::size_t* bytes,
                                      cuda::DevicePointer pointer) {
  return on_context([&](Gpu&) {
    const Allocation known = find_allocation(address_of(pointer));
    if (known.place == MemoryPlace::kUnregistered) return Outcome::kNotFound;
    if (base != nullptr) *base = known.base;
    if (bytes != nullptr) *bytes = known.bytes;
    return Outcome::kSuccess;
  });
}

UNSTARVE_CUDA cuMemAllocHost_v2(void** address, std::size_t bytes) {
  const DriverCall call(Call::kHostAlloc);
  return allocate_host(address, bytes);
}

UNSTARVE_CUDA cuMemHostAlloc(void** address, std::size_t bytes, unsigned) {
  const DriverCall call(Call::kHostAlloc);
  return allocate_host(address, bytes);
}

UNSTARVE_CUDA cuMemFreeHost(void* address) {
  const DriverCall call(Call::kFreeHost);
  return on_context([&](Gpu&) { return free_pinned(address); });
}

UNSTARVE_CUDA cuMemHostRegister_v2(void* address, std::size_t bytes, unsigned) {
  const DriverCall call(Call::kHostRegister);
  if (address == nullptr || bytes == 0) return Outcome::kInvalidValue;
  return on_context([&](Gpu&) { return register_host(address, bytes); });
}

UNSTARVE_CUDA cuMemHostUnregister(void* address) {
  const DriverCall call(Call::kHostUnregister);
  return on_context([&](Gpu&) { return unregister_host(address); });
}

UNSTARVE_CUDA cuMemHostGetDevicePointer_v2(cuda::DevicePointer* pointer, void* address,
                                           unsigned flags) {
  return on_context([&](Gpu&) {
    return flags == 0 && is_pinned(address) ? answer(pointer, pointer_to(address))
                                            : Outcome::kInvalidValue;
  });
}

UNSTARVE_CUDA cuMemHostGetFlags(unsigned* flags, void* address) {
  // Whatever was asked for, it is portable (1) and mapped (2): there is one address space.
  return on_context(
      [&](Gpu&) { return is_pinned(address) ? answer(flags, 3U) : Outcome::kInvalidValue; });
}

}  // namespace unstarve::emulated
