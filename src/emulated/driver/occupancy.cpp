#include <algorithm>

#include "emulated/context/device_facts.h"
#include "emulated/context/module.h"
#include "emulated/driver/driver_call.h"

/// How many blocks fit on the device together, and descriptions of tensors for its copy engine.
namespace unstarve::emulated {
namespace {

template <class Act>
Outcome on_function(const void* handle, Act act) {
  return on_context([&](Gpu& gpu) {
    Kernel* const kernel = find_kernel(handle);
    return kernel != nullptr ? act(gpu, kernel) : Outcome::kInvalidHandle;
  });
}

/// The largest block whose blocks fill a multiprocessor best.
int best_block(const Gpu& gpu, const Kernel* kernel, int limit,
               std::size_t (*shared_bytes_for)(int), std::size_t shared_bytes) {
  int best = 32;
  int best_threads = 0;
  for (int threads = 32; threads <= limit; threads += 32) {
    const std::size_t shared =
        shared_bytes_for != nullptr ? shared_bytes_for(threads) : shared_bytes;
    const int resident = threads * resident_blocks(gpu, kernel, threads, shared);
    if (resident >= best_threads) {
      best = threads;
      best_threads = resident;
    }
  }
  return best;
}

constexpr int kPortableClusterBlocks = 8;

}  // namespace

UNSTARVE_CUDA cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void* function,
                                                          int block_threads,
                                                          std::size_t shared_bytes) {
  return on_function(function, [&](Gpu& gpu, Kernel* kernel) {
    if (block_threads <= 0) return Outcome::kInvalidValue;
    return answer(blocks, resident_blocks(gpu, kernel, block_threads, shared_bytes));
  });
}

UNSTARVE_CUDA cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, void* function,
                                                                   int block_threads,
                                                                   std::size_t shared_bytes,
                                                                   unsigned) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_threads, shared_bytes);
}

UNSTARVE_CUDA cuOccupancyMaxPotentialBlockSize(int* grid, int* block, void* function,
                                               std::size_t (*shared_bytes_for)(int),
                                               std::size_t shared_bytes, int limit) {
  return on_function(function, [&](Gpu& gpu, Kernel* kernel) {
    if (grid == nullptr) return Outcome::kInvalidValue;
    const int most = limit > 0 ? std::min(limit, kMaxThreadsPerBlock) : kMaxThreadsPerBlock;
    const int best = best_block(gpu, kernel, most, shared_bytes_for, shared_bytes);
    const std::size_t shared = shared_bytes_for != nullptr ? shared_bytes_for(best) : shared_bytes;
    *grid = gpu.profile().multiprocessors * resident_blocks(gpu, kernel, best, shared);
    return answer(block, best);
  });
}

UNSTARVE_CUDA cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, void* function,
                                                      int blocks, int) {
  return on_function(function, [&](Gpu& gpu, Kernel*) {
    if (blocks <= 0) return Outcome::kInvalidValue;
    const std::int64_t each = gpu.profile().shared_memory_per_multiprocessor / blocks;
    const std::int64_t room = std::max<std::int64_t>(0, each - kReservedSharedBytes);
    return answer(bytes, static_cast<std::size_t>(room));
  });
}

UNSTARVE_CUDA cuOccupancyMaxActiveClusters(int* clusters, void* function,
                                           const cuda::DriverLaunchConfig* config) {
  return on_function(function, [&](Gpu& gpu, Kernel* kernel) {
    if (config == nullptr) return Outcome::kInvalidValue;
    constexpr std::int32_t kClusterDimension = 4;  // CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
    unsigned blocks = 1;
    for (unsigned i = 0; i < config->attribute_count && config->attributes != nullptr; ++i) {
      const cuda::LaunchAttribute& attribute = config->attributes[i];
      if (attribute.id != kClusterDimension) continue;
      blocks = attribute.value[0] * attribute.value[1] * attribute.value[2];
    }
    if (blocks == 0 || blocks > 2 * kPortableClusterBlocks) return Outcome::kInvalidValue;
    const auto threads = static_cast<int>(config->block.x * config->block.y * config->block.z);
    const int resident = resident_blocks(gpu, kernel, threads, config->shared_bytes);
    const int room = resident * gpu.profile().multiprocessors;
    return answer(clusters, room / static_cast<int>(blocks));
  });
}

UNSTARVE_CUDA cuOccupancyMaxPotentialClusterSize(int* blocks, void* function,
                                                 const cuda::DriverLaunchConfig*) {
  return on_function(function,
                     [&](Gpu&, Kernel*) { return answer(blocks, kPortableClusterBlocks); });
}

UNSTARVE_CUDA cuTensorMapEncodeTiled(cuda::TensorMap* map, int, std::uint32_t rank, void* address,
                                     const std::uint64_t*, const std::uint64_t*,
                                     const std::uint32_t*, const std::uint32_t*, int, int, int,
                                     int) {
  return on_context([&](Gpu&) {
    if (map == nullptr || address == nullptr || rank == 0 || rank > 5) {
      return Outcome::kInvalidValue;
    }
    *map = {};  // only the device reads it
    return Outcome::kSuccess;
  });
}

}  // namespace unstarve::emulated
