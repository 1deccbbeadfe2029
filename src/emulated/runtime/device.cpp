#include <cstdio>
#include <cstring>

#include "emulated/context/device_facts.h"
#include "emulated/runtime/runtime_call.h"

/// Which GPUs there are, which one a thread uses, and what is set for one.
namespace unstarve::emulated {
namespace {

constexpr int kRuntimeVersion = UNSTARVE_CUDA_MAJOR >= 13 ? 13020 : 12080;
constexpr std::size_t kLimitBytes[] = {1024, 1048576, 8388608, 2, 2048, 128, 0};

Outcome set_flags(std::uint32_t flags) {
  return on_gpu([&](Gpu& gpu) {
    return set_schedule_flags(*context_of(gpu.index()), flags) ? Outcome::kSuccess
                                                               : Outcome::kInvalidValue;
  });
}

Outcome use_device(int device) {
  return on_device(device, [&](Gpu& gpu) {
    Context* const context = context_of(gpu.index());
    context->active = true;
    return set_current_context(context);
  });
}

}  // namespace

UNSTARVE_CUDART cudaGetDeviceCount(int* count) {
  if (count == nullptr) return remember(Outcome::kInvalidValue);
  *count = gpu_count();
  const Outcome why = usable();
  if (why != Outcome::kSuccess) return remember(why);
  return remember(*count > 0 ? Outcome::kSuccess : Outcome::kNoDevice);
}

UNSTARVE_CUDART cudaGetDevice(int* device) {
  const Outcome why = usable();
  if (why != Outcome::kSuccess) return remember(why);
  const Context* const context = current_context();
  return remember(answer(device, context != nullptr ? context->gpu : current_gpu()->index()));
}

UNSTARVE_CUDART cudaSetDevice(int device) { return remember(use_device(device)); }

UNSTARVE_CUDART cudaInitDevice(int device, unsigned, unsigned) {
  return remember(on_device(device, [](Gpu& gpu) {
    context_of(gpu.index())->active = true;
    return Outcome::kSuccess;
  }));
}

UNSTARVE_CUDART cudaSetValidDevices(int* devices, int count) {
  return remember(devices != nullptr && count > 0 ? Outcome::kSuccess : Outcome::kInvalidValue);
}

UNSTARVE_CUDART cudaChooseDevice(int* device, const void*) {
  return remember(usable() == Outcome::kSuccess ? answer(device, 0) : usable());
}

UNSTARVE_CUDART cudaDriverGetVersion(int* version) {
  return remember(answer(version, kDriverVersion));
}

UNSTARVE_CUDART cudaRuntimeGetVersion(int* version) {
  return remember(answer(version, kRuntimeVersion));
}

UNSTARVE_CUDART cudaDeviceGetAttribute(int* value, int attribute, int device) {
  return remember(on_device(device, [&](Gpu& gpu) {
    return answer(value, device_attribute(gpu, cuda::DeviceAttribute{attribute}));
  }));
}

UNSTARVE_CUDART cudaDeviceGetPCIBusId(char* text, int size, int device) {
  return remember(on_device(device, [&](Gpu& gpu) {
    const std::string id = pci_bus_id_of(gpu);
    if (text == nullptr || size <= static_cast<int>(id.size())) return Outcome::kInvalidValue;
    std::memcpy(text, id.c_str(), id.size() + 1);
    return Outcome::kSuccess;
  }));
}

UNSTARVE_CUDART cudaDeviceGetByPCIBusId(int* device, const char* text) {
  const Outcome why = usable();
  if (why != Outcome::kSuccess || text == nullptr) {
    return remember(why != Outcome::kSuccess ? why : Outcome::kInvalidValue);
  }
  const Gpu* const gpu = find_gpu_by_pci(text);
  return remember(gpu != nullptr ? answer(device, gpu->index()) : Outcome::kInvalidDevice);
}

UNSTARVE_CUDART cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = cuda::kPriorityLeast;
  if (greatest != nullptr) *greatest = cuda::kPriorityGreatest;
  return remember(usable());
}

UNSTARVE_CUDART cudaDeviceSynchronize() {
  const ApiCall call(Call::kDeviceSynchronize);
  return remember(on_gpu([](Gpu& gpu) { return gpu.synchronize_device(); }));
}

UNSTARVE_CUDART cudaThreadSynchronize() { return cudaDeviceSynchronize(); }

UNSTARVE_CUDART cudaDeviceReset() {
  return remember(on_gpu([](Gpu& gpu) {
    const Outcome outcome = gpu.reset();
    context_of(gpu.index())->active = false;
    return outcome;
  }));
}

UNSTARVE_CUDART cudaSetDeviceFlags(unsigned flags) { return remember(set_flags(flags)); }

UNSTARVE_CUDART cudaGetDeviceFlags(unsigned* flags) {
  return remember(on_gpu([&](Gpu& gpu) {
    // Host memory can always be mapped: 8.
    return answer(flags, context_of(gpu.index())->flags.load() | 8U);
  }));
}

UNSTARVE_CUDART cudaDeviceSetLimit(int limit, std::size_t) {
  return remember(on_gpu(
      [&](Gpu&) { return limit >= 0 && limit < 7 ? Outcome::kSuccess : Outcome::kInvalidValue; }));
}

UNSTARVE_CUDART cudaDeviceGetLimit(std::size_t* value, int limit) {
  return remember(on_gpu([&](Gpu&) {
    return limit >= 0 && limit < 7 ? answer(value, kLimitBytes[limit]) : Outcome::kInvalidValue;
  }));
}

UNSTARVE_CUDART cudaDeviceSetCacheConfig(int) { return remember(usable()); }

UNSTARVE_CUDART cudaDeviceGetCacheConfig(int* config) { return remember(answer(config, 0)); }

UNSTARVE_CUDART cudaDeviceSetSharedMemConfig(int) { return remember(usable()); }

UNSTARVE_CUDART cudaDeviceGetSharedMemConfig(int* config) { return remember(answer(config, 0)); }

UNSTARVE_CUDART cudaProfilerStart() { return remember(usable()); }

UNSTARVE_CUDART cudaProfilerStop() { return remember(usable()); }

}  // namespace unstarve::emulated
