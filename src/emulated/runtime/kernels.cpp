#include "emulated/runtime/kernels.h"

#include <algorithm>
#include <array>

#include "emulated/context/device_facts.h"
#include "emulated/context/module.h"
#include "emulated/runtime/runtime_call.h"

/// Launches, and what a program may ask and set about a kernel.
namespace unstarve::emulated {
namespace {

/// kernel<<<grid, block, shared, stream>>> pushes a configuration, and the kernel's stub pops it.
struct CallConfiguration {
  cuda::Dim3 grid;
  cuda::Dim3 block;
  std::size_t shared_bytes = 0;
  void* stream = nullptr;
};
thread_local std::array<CallConfiguration, 16> configurations;
thread_local std::size_t configured = 0;

Outcome launch(const void* function, const LaunchShape& shape, void* stream) {
  Kernel* const kernel = find_function(function);
  return on_stream(stream, [&](Gpu&, Stream* found) {
    return kernel != nullptr ? launch_kernel(found, kernel, shape) : Outcome::kInvalidKernel;
  });
}

/// `act(gpu, kernel)` with the calling thread's GPU.
template <class Act>
Outcome on_function(const void* function, Act act) {
  Kernel* const kernel = find_function(function);
  return on_gpu(
      [&](Gpu& gpu) { return kernel != nullptr ? act(gpu, kernel) : Outcome::kInvalidKernel; });
}

Outcome set_attribute(const Gpu& gpu, const Kernel* kernel, int attribute, int value) {
  switch (attribute) {
    case cuda::kFuncMaxDynamicSharedSize: return set_max_dynamic_shared_bytes(gpu, kernel, value);
    case cuda::kFuncPreferredSharedCarveout:
      if (value < -1 || value > 100) return Outcome::kInvalidValue;
      set_preferred_carveout(kernel, value);
      return Outcome::kSuccess;
    // The shape of clusters, which no duration depends on.
    default: return attribute >= 10 && attribute <= 15 ? Outcome::kSuccess : Outcome::kInvalidValue;
  }
}

cuda::FuncAttributes attributes_of(const Gpu& gpu, const Kernel* kernel) {
  const KernelFacts facts = facts_of(kernel);
  cuda::FuncAttributes out = {};
  out.max_threads_per_block = kMaxThreadsPerBlock;
  out.registers = facts.registers;
  out.ptx_version = gpu.profile().compute_major * 10 + gpu.profile().compute_minor;
  out.binary_version = out.ptx_version;
  out.max_dynamic_shared_size_bytes = facts.max_dynamic_shared_bytes;
  out.preferred_shared_memory_carveout = facts.preferred_shared_carveout;
  return out;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) unsigned __cudaPushCallConfiguration(
    cuda::Dim3 grid, cuda::Dim3 block, std::size_t shared_bytes, void* stream) {
  if (configured == configurations.size()) return 1;
  configurations[configured++] = {grid, block, shared_bytes, stream};
  return 0;
}

UNSTARVE_CUDART __cudaPopCallConfiguration(cuda::Dim3* grid, cuda::Dim3* block,
                                           std::size_t* shared_bytes, void* stream) {
  if (configured == 0) return remember(Outcome::kMissingConfiguration);
  const CallConfiguration& last = configurations[--configured];
  *grid = last.grid;
  *block = last.block;
  *shared_bytes = last.shared_bytes;
  *static_cast<void**>(stream) = last.stream;
  return Outcome::kSuccess;
}

UNSTARVE_CUDART cudaLaunchKernel(const void* function, cuda::Dim3 grid, cuda::Dim3 block,
                                 void** arguments, std::size_t shared_bytes, void* stream) {
  const ApiCall call(Call::kLaunchKernel);
  return remember(launch(function, {grid, block, shared_bytes, false, arguments}, stream));
}

UNSTARVE_CUDART cudaLaunchCooperativeKernel(const void* function, cuda::Dim3 grid, cuda::Dim3 block,
                                            void** arguments, std::size_t shared_bytes,
                                            void* stream) {
  const ApiCall call(Call::kLaunchKernel);
  return remember(launch(function, {grid, block, shared_bytes, true, arguments}, stream));
}

UNSTARVE_CUDART cudaLaunchKernelExC(const cuda::LaunchConfig* config, const void* function,
                                    void** arguments) {
  const ApiCall call(Call::kLaunchKernel);
  if (config == nullptr) return remember(Outcome::kInvalidValue);
  LaunchShape shape = {config->grid, config->block, config->dynamic_shared_bytes, false, arguments};
  for (unsigned i = 0; i < config->attribute_count && config->attributes != nullptr; ++i) {
    const cuda::LaunchAttribute& attribute = config->attributes[i];
    if (attribute.id == cuda::kLaunchAttributeCooperative)
      shape.cooperative = attribute.value[0] != 0;
  }
  return remember(launch(function, shape, config->stream));
}

UNSTARVE_CUDART __cudaGetKernel(void** kernel, const void* function) {
  return remember(on_function(
      function, [&](Gpu&, Kernel* found) { return answer(kernel, static_cast<void*>(found)); }));
}

UNSTARVE_CUDART cudaGetKernel(void** kernel, const void* function) {
  return __cudaGetKernel(kernel, function);
}

UNSTARVE_CUDART __cudaLaunchKernel(void* kernel, cuda::Dim3 grid, cuda::Dim3 block,
                                   void** arguments, std::size_t shared_bytes, void* stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}

UNSTARVE_CUDART __cudaLaunchKernel_ptsz(void* kernel, cuda::Dim3 grid, cuda::Dim3 block,
                                        void** arguments, std::size_t shared_bytes, void* stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, per_thread(stream));
}

UNSTARVE_CUDART cudaGetFuncBySymbol(void** kernel, const void* function) {
  return __cudaGetKernel(kernel, function);
}

UNSTARVE_CUDART cudaFuncGetName(const char** name, const void* function) {
  return remember(
      on_function(function, [&](Gpu&, Kernel* kernel) { return answer(name, name_of(kernel)); }));
}

UNSTARVE_CUDART cudaFuncGetAttributes(cuda::FuncAttributes* attributes, const void* function) {
  return remember(on_function(function, [&](Gpu& gpu, Kernel* kernel) {
    return answer(attributes, attributes_of(gpu, kernel));
  }));
}

UNSTARVE_CUDART cudaFuncSetAttribute(const void* function, int attribute, int value) {
  return remember(on_function(function, [&](Gpu& gpu, Kernel* kernel) {
    return set_attribute(gpu, kernel, attribute, value);
  }));
}

UNSTARVE_CUDART cudaKernelSetAttributeForDevice(void* kernel, int attribute, int value,
                                                int device) {
  return remember(on_device(device, [&](Gpu& gpu) {
    Kernel* const found = find_kernel(kernel);
    return found != nullptr ? set_attribute(gpu, found, attribute, value) : Outcome::kInvalidHandle;
  }));
}

UNSTARVE_CUDART cudaFuncSetCacheConfig(const void* function, int) {
  return remember(on_function(function, [](Gpu&, Kernel*) { return Outcome::kSuccess; }));
}

UNSTARVE_CUDART cudaFuncSetSharedMemConfig(const void* function, int) {
  return remember(on_function(function, [](Gpu&, Kernel*) { return Outcome::kSuccess; }));
}

UNSTARVE_CUDART cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                              int block_threads,
                                                              std::size_t shared_bytes) {
  return remember(on_function(function, [&](Gpu& gpu, Kernel* kernel) {
    if (block_threads <= 0) return Outcome::kInvalidValue;
    return answer(blocks, resident_blocks(gpu, kernel, block_threads, shared_bytes));
  }));
}

UNSTARVE_CUDART cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int block_threads, std::size_t shared_bytes, unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_threads,
                                                       shared_bytes);
}

UNSTARVE_CUDART cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* function,
                                                          int blocks, int) {
  return remember(on_function(function, [&](Gpu& gpu, Kernel*) {
    if (blocks <= 0) return Outcome::kInvalidValue;
    const std::int64_t each = gpu.profile().shared_memory_per_multiprocessor / blocks;
    const std::int64_t room = std::max<std::int64_t>(0, each - kReservedSharedBytes);
    return answer(bytes, static_cast<std::size_t>(room));
  }));
}

}  // namespace unstarve::emulated
