#include "emulated/abi/driver_abi.h"
#include "emulated/context/memory_pool.h"
#include "emulated/runtime/runtime_call.h"

/// Device, managed and host memory, and what lies at an address. No page of managed memory ever
/// moves, so that advice about it is checked and changes nothing.
namespace unstarve::emulated {
namespace {

Outcome allocate(void** out, std::size_t bytes, MemoryPlace place) {
  if (out == nullptr) return Outcome::kInvalidValue;
  return on_gpu([&](Gpu& gpu) {
    *out = nullptr;
    return bytes != 0 ? gpu.allocate(bytes, place, out) : Outcome::kSuccess;
  });
}

Outcome free_memory(void* address) {
  return on_gpu([&](Gpu& current) {
    if (address == nullptr) return Outcome::kSuccess;
    const Allocation known = find_allocation(address);
    Gpu* const owner = gpu_at(known.gpu);
    const Outcome outcome = (owner != nullptr ? *owner : current).free(address);
    if (outcome == Outcome::kSuccess) forget_pool_memory(address);
    return outcome;
  });
}

Outcome allocate_host(void** out, std::size_t bytes) {
  if (out == nullptr) return Outcome::kInvalidValue;
  return on_gpu([&](Gpu&) {
    *out = nullptr;
    return bytes != 0 ? allocate_pinned(bytes, out) : Outcome::kSuccess;
  });
}

cuda::MemoryType type_of(MemoryPlace place) {
  switch (place) {
    case MemoryPlace::kPinnedHost: return cuda::MemoryType::kHost;
    case MemoryPlace::kDevice: return cuda::MemoryType::kDevice;
    case MemoryPlace::kManaged: return cuda::MemoryType::kManaged;
    case MemoryPlace::kUnregistered: break;
  }
  return cuda::MemoryType::kUnregistered;
}

constexpr int kInvalidDeviceId = -2;  // cudaInvalidDeviceId

Outcome describe(cuda::PointerAttributes* out, const void* address) {
  if (out == nullptr) return Outcome::kInvalidValue;
  const Allocation known = find_allocation(address);
  void* const here = const_cast<void*>(address);
  *out = {};
  out->type = static_cast<std::int32_t>(type_of(known.place));
  if (known.place == MemoryPlace::kUnregistered) {
    out->device = kInvalidDeviceId;
    out->host_pointer = here;
    return Outcome::kSuccess;
  }
  out->device = known.gpu >= 0 ? known.gpu : current_gpu()->index();
  out->device_pointer = here;
  if (known.place != MemoryPlace::kDevice) out->host_pointer = here;
  return Outcome::kSuccess;
}

bool is_pinned(const void* address) {
  return find_allocation(address).place == MemoryPlace::kPinnedHost;
}

Outcome check_managed(const void* address) {
  return on_gpu([&](Gpu&) {
    const bool managed = find_allocation(address).place == MemoryPlace::kManaged;
    return managed ? Outcome::kSuccess : Outcome::kInvalidValue;
  });
}

Outcome check_prefetch(const void* address, void* stream) {
  return on_stream(stream, [&](Gpu&, Stream*) { return check_managed(address); });
}

}  // namespace

UNSTARVE_CUDART cudaMalloc(void** address, std::size_t bytes) {
  const ApiCall call(Call::kMalloc);
  return remember(allocate(address, bytes, MemoryPlace::kDevice));
}

UNSTARVE_CUDART cudaMallocManaged(void** address, std::size_t bytes, unsigned) {
  const ApiCall call(Call::kMalloc);
  if (bytes == 0) return remember(Outcome::kInvalidValue);
  return remember(allocate(address, bytes, MemoryPlace::kManaged));
}

UNSTARVE_CUDART cudaMallocPitch(void** address, std::size_t* pitch, std::size_t width,
                                std::size_t height) {
  const ApiCall call(Call::kMalloc);
  if (pitch == nullptr) return remember(Outcome::kInvalidValue);
  *pitch = (width + 511) / 512 * 512;
  return remember(allocate(address, *pitch * height, MemoryPlace::kDevice));
}

UNSTARVE_CUDART cudaMalloc3D(cuda::PitchedPointer* out, cuda::Extent extent) {
  const ApiCall call(Call::kMalloc);
  if (out == nullptr) return remember(Outcome::kInvalidValue);
  const std::size_t pitch = (extent.width + 511) / 512 * 512;
  *out = {nullptr, pitch, extent.width, extent.height};
  return remember(
      allocate(&out->pointer, pitch * extent.height * extent.depth, MemoryPlace::kDevice));
}

UNSTARVE_CUDART cudaFree(void* address) {
  const ApiCall call(Call::kFree);
  return remember(free_memory(address));
}

UNSTARVE_CUDART cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  return remember(on_gpu([&](Gpu& gpu) {
    if (free_bytes == nullptr || total_bytes == nullptr) return Outcome::kInvalidValue;
    settle_pools();
    gpu.memory_info(free_bytes, total_bytes);
    return Outcome::kSuccess;
  }));
}

UNSTARVE_CUDART cudaHostAlloc(void** address, std::size_t bytes, unsigned) {
  const ApiCall call(Call::kHostAlloc);
  return remember(allocate_host(address, bytes));
}

UNSTARVE_CUDART cudaMallocHost(void** address, std::size_t bytes) {
  const ApiCall call(Call::kHostAlloc);
  return remember(allocate_host(address, bytes));
}

UNSTARVE_CUDART cudaFreeHost(void* address) {
  const ApiCall call(Call::kFreeHost);
  return remember(
      on_gpu([&](Gpu&) { return address != nullptr ? free_pinned(address) : Outcome::kSuccess; }));
}

UNSTARVE_CUDART cudaHostRegister(void* address, std::size_t bytes, unsigned) {
  const ApiCall call(Call::kHostRegister);
  return remember(on_gpu([&](Gpu&) {
    return address != nullptr && bytes != 0 ? register_host(address, bytes)
                                            : Outcome::kInvalidValue;
  }));
}

UNSTARVE_CUDART cudaHostUnregister(void* address) {
  const ApiCall call(Call::kHostUnregister);
  return remember(on_gpu([&](Gpu&) { return unregister_host(address); }));
}

UNSTARVE_CUDART cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return remember(on_gpu([&](Gpu&) {
    return flags == 0 && is_pinned(host) ? answer(device, host) : Outcome::kInvalidValue;
  }));
}

UNSTARVE_CUDART cudaHostGetFlags(unsigned* flags, void* host) {
  // Whatever was asked for, it is portable (1) and mapped (2): there is one address space.
  return remember(
      on_gpu([&](Gpu&) { return is_pinned(host) ? answer(flags, 3U) : Outcome::kInvalidValue; }));
}

UNSTARVE_CUDART cudaPointerGetAttributes(cuda::PointerAttributes* attributes, const void* address) {
  const ApiCall call(Call::kPointerGetAttributes);
  return remember(on_gpu([&](Gpu&) { return describe(attributes, address); }));
}

#if UNSTARVE_CUDA_MAJOR >= 13
UNSTARVE_CUDART cudaMemPrefetchAsync(const void* address, std::size_t, cuda::MemoryLocation,
                                     unsigned, void* stream) {
  return remember(check_prefetch(address, stream));
}

UNSTARVE_CUDART cudaMemAdvise(const void* address, std::size_t, int, cuda::MemoryLocation) {
  return remember(check_managed(address));
}
#else
UNSTARVE_CUDART cudaMemPrefetchAsync(const void* address, std::size_t, int, void* stream) {
  return remember(check_prefetch(address, stream));
}

UNSTARVE_CUDART cudaMemPrefetchAsync_v2(const void* address, std::size_t, cuda::MemoryLocation,
                                        unsigned, void* stream) {
  return remember(check_prefetch(address, stream));
}

UNSTARVE_CUDART cudaMemAdvise(const void* address, std::size_t, int, int) {
  return remember(check_managed(address));
}

UNSTARVE_CUDART cudaMemAdvise_v2(const void* address, std::size_t, int, cuda::MemoryLocation) {
  return remember(check_managed(address));
}
#endif

}  // namespace unstarve::emulated
