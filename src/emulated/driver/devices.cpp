#include <cstdio>
#include <cstring>

#include "emulated/abi/error_text.h"
#include "emulated/context/device_facts.h"
#include "emulated/driver/driver_call.h"

/// Which GPUs there are and what they are like.
namespace unstarve::emulated {

UNSTARVE_CUDA cuInit(unsigned flags) {
  if (flags != 0) return Outcome::kInvalidValue;
  const Outcome why = usable();
  if (why != Outcome::kSuccess) return why;
  return gpu_count() > 0 ? Outcome::kSuccess : Outcome::kNoDevice;
}

UNSTARVE_CUDA cuDriverGetVersion(int* version) { return answer(version, kDriverVersion); }

UNSTARVE_CUDA cuDeviceGetCount(int* count) {
  const Outcome why = usable();
  return why == Outcome::kSuccess ? answer(count, gpu_count()) : why;
}

UNSTARVE_CUDA cuDeviceGet(int* device, int ordinal) {
  return on_device(ordinal, [&](Gpu&) { return answer(device, ordinal); });
}

UNSTARVE_CUDA cuDeviceGetName(char* name, int size, int device) {
  return on_device(device, [&](Gpu& gpu) {
    if (name == nullptr || size <= 0) return Outcome::kInvalidValue;
    std::snprintf(name, static_cast<std::size_t>(size), "%s", gpu.profile().device_name.c_str());
    return Outcome::kSuccess;
  });
}

UNSTARVE_CUDA cuDeviceGetUuid(cuda::Uuid* uuid, int device) {
  return on_device(device, [&](Gpu& gpu) { return answer(uuid, uuid_of(gpu)); });
}

UNSTARVE_CUDA cuDeviceGetUuid_v2(cuda::Uuid* uuid, int device) {
  return cuDeviceGetUuid(uuid, device);
}

UNSTARVE_CUDA cuDeviceGetLuid(char*, unsigned*, int) {
  return Outcome::kNotSupported;  // an identity that only Windows has
}

UNSTARVE_CUDA cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  return on_device(device, [&](Gpu& gpu) {
    return answer(bytes, static_cast<std::size_t>(gpu.profile().total_memory_bytes));
  });
}

UNSTARVE_CUDA cuDeviceGetAttribute(int* value, int attribute, int device) {
  return on_device(device, [&](Gpu& gpu) {
    if (attribute <= 0) return Outcome::kInvalidValue;
    return answer(value, device_attribute(gpu, cuda::DeviceAttribute{attribute}));
  });
}

UNSTARVE_CUDA cuDeviceComputeCapability(int* major, int* minor, int device) {
  return on_device(device, [&](Gpu& gpu) {
    if (major == nullptr) return Outcome::kInvalidValue;
    *major = gpu.profile().compute_major;
    return answer(minor, gpu.profile().compute_minor);
  });
}

UNSTARVE_CUDA cuDeviceGetPCIBusId(char* text, int size, int device) {
  return on_device(device, [&](Gpu& gpu) {
    const std::string id = pci_bus_id_of(gpu);
    if (text == nullptr || size <= static_cast<int>(id.size())) return Outcome::kInvalidValue;
    std::memcpy(text, id.c_str(), id.size() + 1);
    return Outcome::kSuccess;
  });
}

UNSTARVE_CUDA cuDeviceGetByPCIBusId(int* device, const char* text) {
  const Outcome why = usable();
  if (why != Outcome::kSuccess) return why;
  if (text == nullptr) return Outcome::kInvalidValue;
  const Gpu* const gpu = find_gpu_by_pci(text);
  return gpu != nullptr ? answer(device, gpu->index()) : Outcome::kInvalidDevice;
}

UNSTARVE_CUDA cuDeviceGetExecAffinitySupport(int* supported, int, int device) {
  return on_device(device, [&](Gpu&) { return answer(supported, 0); });
}

UNSTARVE_CUDA cuGetErrorName(int error, const char** name) {
  if (name == nullptr) return Outcome::kInvalidValue;
  *name = cuda::driver_error_name(error);
  return *name != nullptr ? Outcome::kSuccess : Outcome::kInvalidValue;
}

UNSTARVE_CUDA cuGetErrorString(int error, const char** text) {
  if (text == nullptr) return Outcome::kInvalidValue;
  *text = cuda::error_text(error);
  return *text != nullptr ? Outcome::kSuccess : Outcome::kInvalidValue;
}

// Messages of the driver for people: it has none, so that nobody is ever called.
UNSTARVE_CUDA cuLogsRegisterCallback(void* callback, void*, void** handle) {
  return callback != nullptr ? answer(handle, callback) : Outcome::kInvalidValue;
}

UNSTARVE_CUDA cuLogsUnregisterCallback(void* handle) {
  return handle != nullptr ? Outcome::kSuccess : Outcome::kInvalidValue;
}

}  // namespace unstarve::emulated
