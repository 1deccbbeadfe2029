// NVML's functions about the instances that a GPU is split into. An emulated one is whole, unless
// UNSTARVE_EMULATED_MIG says otherwise (instance.h).
#include "emulated/nvml/session.h"

using namespace unstarve::emulated;

using nvml::Return;

namespace {

/// One value of an instance; the handle of a whole GPU is an invalid argument.
template <class Value, class Read>
Return read_instance(const void* handle, Value* out, Read read) noexcept {
  return with_part(handle, [&](NvmlDevice&, const NvmlInstance* instance) {
    if (instance == nullptr || out == nullptr) return Return::kInvalidArgument;
    *out = read(*instance);
    return Return::kSuccess;
  });
}

}  // namespace

UNSTARVE_NVML nvmlDeviceGetMigMode(nvml::DeviceHandle handle, std::uint32_t* current,
                                   std::uint32_t* pending) {
  return with_device(handle, [&](NvmlDevice& device) {
    if (current == nullptr || pending == nullptr) return Return::kInvalidArgument;
    *current = *pending = device.instances().empty() ? 0 : nvml::kMigEnabled;
    return Return::kSuccess;
  });
}

UNSTARVE_NVML nvmlDeviceGetMaxMigDeviceCount(nvml::DeviceHandle handle, std::uint32_t* count) {
  return read_value(handle, count, [](NvmlDevice& device) { return device.instances().size(); });
}

UNSTARVE_NVML nvmlDeviceGetMigDeviceHandleByIndex(nvml::DeviceHandle handle, std::uint32_t index,
                                                  nvml::DeviceHandle* instance) {
  return with_device(handle, [&](NvmlDevice& device) {
    if (instance == nullptr) return Return::kInvalidArgument;
    if (index >= device.instances().size()) return Return::kNotFound;
    *instance = &device.instances()[index];
    return Return::kSuccess;
  });
}

UNSTARVE_NVML nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvml::DeviceHandle handle,
                                                           nvml::DeviceHandle* gpu) {
  return with_part(handle, [&](NvmlDevice& device, const NvmlInstance* instance) {
    if (instance == nullptr || gpu == nullptr) return Return::kInvalidArgument;
    *gpu = &device;
    return Return::kSuccess;
  });
}

UNSTARVE_NVML nvmlDeviceIsMigDeviceHandle(nvml::DeviceHandle handle, std::uint32_t* is_instance) {
  return with_part(handle, [&](NvmlDevice&, const NvmlInstance* instance) {
    if (is_instance == nullptr) return Return::kInvalidArgument;
    *is_instance = instance != nullptr ? 1 : 0;
    return Return::kSuccess;
  });
}

UNSTARVE_NVML nvmlDeviceGetGpuInstanceId(nvml::DeviceHandle handle, std::uint32_t* id) {
  return read_instance(handle, id, [](const NvmlInstance& each) { return each.gpu_instance(); });
}

UNSTARVE_NVML nvmlDeviceGetComputeInstanceId(nvml::DeviceHandle handle, std::uint32_t* id) {
  return read_instance(handle, id, [](const NvmlInstance&) { return std::uint32_t{0}; });
}

UNSTARVE_NVML nvmlDeviceGetAttributes_v2(nvml::DeviceHandle handle, nvml::DeviceAttributes* out) {
  return read_instance(handle, out, [](const NvmlInstance& instance) {
    nvml::DeviceAttributes attributes;
    attributes.gpu_slices = static_cast<std::uint32_t>(instance.slices);
    attributes.compute_slices = attributes.gpu_slices;
    attributes.memory_mib = static_cast<std::uint64_t>(instance.memory_bytes() >> 20);
    return attributes;
  });
}
