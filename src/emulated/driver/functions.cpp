#include <algorithm>

#include "emulated/context/device_facts.h"
#include "emulated/context/module.h"
#include "emulated/driver/driver_call.h"

/// Launches, and what a program may ask and set about a kernel (CUfunction, CUkernel).
namespace unstarve::emulated {
namespace {

/// CUfunction_attribute.
enum class FunctionAttribute : int {
  kMaxThreadsPerBlock = 0,
  kSharedBytes = 1,
  kConstantBytes = 2,
  kLocalBytes = 3,
  kRegisters = 4,
  kPtxVersion = 5,
  kBinaryVersion = 6,
  kCacheModeCa = 7,
  kMaxDynamicSharedBytes = 8,
  kPreferredSharedCarveout = 9,
  kFirstOfClusters = 10,
  kLastOfClusters = 15,
};

/// `act(kernel)` with the kernel that a program means.
template <class Act>
Outcome on_kernel(const void* handle, Act act) {
  const Outcome why = usable();
  if (why != Outcome::kSuccess) return why;
  Kernel* const kernel = find_kernel(handle);
  return kernel != nullptr ? act(kernel) : Outcome::kInvalidHandle;
}

Outcome get_attribute(int* value, int attribute, const Gpu& gpu, const Kernel* kernel) {
  const KernelFacts facts = facts_of(kernel);
  const Profile& profile = gpu.profile();
  switch (FunctionAttribute{attribute}) {
    case FunctionAttribute::kMaxThreadsPerBlock: return answer(value, kMaxThreadsPerBlock);
    case FunctionAttribute::kRegisters: return answer(value, facts.registers);
    case FunctionAttribute::kPtxVersion:
    case FunctionAttribute::kBinaryVersion:
      return answer(value, profile.compute_major * 10 + profile.compute_minor);
    case FunctionAttribute::kMaxDynamicSharedBytes:
      return answer(value, facts.max_dynamic_shared_bytes);
    case FunctionAttribute::kPreferredSharedCarveout:
      return answer(value, facts.preferred_shared_carveout);
    default: break;
  }
  const bool known =
      attribute >= 0 && attribute <= static_cast<int>(FunctionAttribute::kLastOfClusters);
  return known ? answer(value, 0) : Outcome::kInvalidValue;
}

Outcome set_attribute(int attribute, int value, const Gpu& gpu, const Kernel* kernel) {
  switch (FunctionAttribute{attribute}) {
    case FunctionAttribute::kMaxDynamicSharedBytes:
      return set_max_dynamic_shared_bytes(gpu, kernel, value);
    case FunctionAttribute::kPreferredSharedCarveout:
      if (value < -1 || value > 100) return Outcome::kInvalidValue;
      set_preferred_carveout(kernel, value);
      return Outcome::kSuccess;
    default: break;
  }
  const bool of_clusters = attribute >= static_cast<int>(FunctionAttribute::kFirstOfClusters) &&
                           attribute <= static_cast<int>(FunctionAttribute::kLastOfClusters);
  return of_clusters ? Outcome::kSuccess : Outcome::kInvalidValue;
}

Outcome launch(const void* function, const LaunchShape& shape, void* stream) {
  return on_stream(stream, [&](Gpu&, Stream* found) {
    return on_kernel(function, [&](Kernel* kernel) { return launch_kernel(found, kernel, shape); });
  });
}

}  // namespace

UNSTARVE_CUDA cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                             unsigned block_x, unsigned block_y, unsigned block_z,
                             unsigned shared_bytes, void* stream, void**, void**) {
  const DriverCall call(Call::kLaunchKernel);
  return launch(function,
                {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, false},
                stream);
}

UNSTARVE_CUDA cuLaunchCooperativeKernel(void* function, unsigned grid_x, unsigned grid_y,
                                        unsigned grid_z, unsigned block_x, unsigned block_y,
                                        unsigned block_z, unsigned shared_bytes, void* stream,
                                        void**) {
  const DriverCall call(Call::kLaunchKernel);
  return launch(function,
                {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, true},
                stream);
}

UNSTARVE_CUDA cuLaunchKernelEx(const cuda::DriverLaunchConfig* config, void* function, void**,
                               void**) {
  const DriverCall call(Call::kLaunchKernel);
  if (config == nullptr) return Outcome::kInvalidValue;
  LaunchShape shape = {config->grid, config->block, config->shared_bytes, false};
  for (unsigned i = 0; i < config->attribute_count && config->attributes != nullptr; ++i) {
    const cuda::LaunchAttribute& attribute = config->attributes[i];
    if (attribute.id == cuda::kLaunchAttributeCooperative) {
      shape.cooperative = attribute.value[0] != 0;
    }
  }
  return launch(function, shape, config->stream);
}

UNSTARVE_CUDA cuKernelGetFunction(void** function, void* kernel) {
  return on_kernel(kernel,
                   [&](Kernel* found) { return answer(function, static_cast<void*>(found)); });
}

UNSTARVE_CUDA cuFuncGetName(const char** name, void* function) {
  return on_kernel(function, [&](Kernel* kernel) { return answer(name, name_of(kernel)); });
}

UNSTARVE_CUDA cuKernelGetName(const char** name, void* kernel) {
  return cuFuncGetName(name, kernel);
}

UNSTARVE_CUDA cuFuncGetModule(void** module, void* function) {
  return on_kernel(function, [&](Kernel* kernel) {
    return answer(module, static_cast<void*>(module_of(kernel)));
  });
}

UNSTARVE_CUDA cuKernelGetLibrary(void** library, void* kernel) {
  return cuFuncGetModule(library, kernel);
}

UNSTARVE_CUDA cuFuncLoad(void* function) {
  return on_kernel(function, [](Kernel*) { return Outcome::kSuccess; });
}

UNSTARVE_CUDA cuFuncIsLoaded(int* state, void* function) {
  return on_kernel(function, [&](Kernel*) { return answer(state, 1); });
}

UNSTARVE_CUDA cuFuncGetAttribute(int* value, int attribute, void* function) {
  return on_context([&](Gpu& gpu) {
    return on_kernel(function,
                     [&](Kernel* kernel) { return get_attribute(value, attribute, gpu, kernel); });
  });
}

UNSTARVE_CUDA cuFuncSetAttribute(void* function, int attribute, int value) {
  return on_context([&](Gpu& gpu) {
    return on_kernel(function,
                     [&](Kernel* kernel) { return set_attribute(attribute, value, gpu, kernel); });
  });
}

UNSTARVE_CUDA cuKernelGetAttribute(int* value, int attribute, void* kernel, int device) {
  return on_device(device, [&](Gpu& gpu) {
    return on_kernel(kernel,
                     [&](Kernel* found) { return get_attribute(value, attribute, gpu, found); });
  });
}

UNSTARVE_CUDA cuKernelSetAttribute(int attribute, int value, void* kernel, int device) {
  return on_device(device, [&](Gpu& gpu) {
    return on_kernel(kernel,
                     [&](Kernel* found) { return set_attribute(attribute, value, gpu, found); });
  });
}

UNSTARVE_CUDA cuFuncSetCacheConfig(void* function, int) {
  return on_kernel(function, [](Kernel*) { return Outcome::kSuccess; });
}

UNSTARVE_CUDA cuKernelSetCacheConfig(void* kernel, int, int) {
  return on_kernel(kernel, [](Kernel*) { return Outcome::kSuccess; });
}

UNSTARVE_CUDA cuFuncSetSharedMemConfig(void* function, int) {
  return on_kernel(function, [](Kernel*) { return Outcome::kSuccess; });
}

}  // namespace unstarve::emulated
