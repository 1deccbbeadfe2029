#include "device/emulated/abi/driver_abi.h"
#include "device/emulated/runtime/runtime_call.h"

/// Advice about managed memory. No page of it ever moves, so that advice changes nothing, but is
/// checked; reading advice back is not supported.
namespace unstarve::emulated {
namespace {

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
