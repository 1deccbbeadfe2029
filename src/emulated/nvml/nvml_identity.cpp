// NVML's functions about what a GPU is.
#include <cstdio>
#include <cstring>

#include "emulated/nvml/session.h"

using namespace unstarve::emulated;

using nvml::Return;

namespace {

void write_bus_id(char* out, std::size_t size, const char* format, const NvmlDevice& device) {
  std::snprintf(out, size, format, static_cast<unsigned>(device.pci_bus()));
}

Return pci_info_v2(nvml::DeviceHandle handle, nvml::PciInfoV2* info) noexcept {
  return with_device(handle, [&](NvmlDevice& device) {
    if (info == nullptr) return Return::kInvalidArgument;
    *info = {};
    write_bus_id(info->bus_id, sizeof(info->bus_id), "0000:%02X:00.0", device);
    info->bus = static_cast<std::uint32_t>(device.pci_bus());
    return Return::kSuccess;
  });
}

std::uint32_t architecture_of(const Profile& profile) {
  const int capability = 10 * profile.compute_major + profile.compute_minor;
  if (capability >= 100) return 10;
  if (capability >= 90) return 9;
  if (capability >= 89) return 8;
  if (capability >= 80) return 7;
  if (capability >= 75) return 6;
  return capability >= 70 ? 5 : nvml::kArchitectureUnknown;
}

}  // namespace

UNSTARVE_NVML nvmlDeviceGetName(nvml::DeviceHandle handle, char* name, std::uint32_t size) {
  return with_part(handle, [&](NvmlDevice& device, const NvmlInstance* instance) {
    const std::string& gpu = device.profile().device_name;
    return copy_text(instance == nullptr ? gpu : gpu + " " + instance->kind(), name, size);
  });
}

UNSTARVE_NVML nvmlDeviceGetUUID(nvml::DeviceHandle handle, char* uuid, std::uint32_t size) {
  return with_part(handle, [&](NvmlDevice& device, const NvmlInstance* instance) {
    return copy_text(instance == nullptr ? device.uuid() : instance->uuid(), uuid, size);
  });
}

UNSTARVE_NVML nvmlDeviceGetIndex(nvml::DeviceHandle handle, std::uint32_t* index) {
  return read_value(handle, index, [](NvmlDevice& device) { return device.index(); });
}

UNSTARVE_NVML nvmlDeviceGetMinorNumber(nvml::DeviceHandle handle, std::uint32_t* number) {
  return read_value(handle, number, [](NvmlDevice& device) { return device.index(); });
}

UNSTARVE_NVML nvmlDeviceGetPciInfo_v3(nvml::DeviceHandle handle, nvml::PciInfoV3* info) {
  return with_device(handle, [&](NvmlDevice& device) {
    if (info == nullptr) return Return::kInvalidArgument;
    *info = {};
    write_bus_id(info->bus_id_legacy, sizeof(info->bus_id_legacy), "0000:%02X:00.0", device);
    write_bus_id(info->bus_id, sizeof(info->bus_id), "00000000:%02X:00.0", device);
    info->bus = static_cast<std::uint32_t>(device.pci_bus());
    return Return::kSuccess;
  });
}

UNSTARVE_NVML nvmlDeviceGetPciInfo_v2(nvml::DeviceHandle handle, nvml::PciInfoV2* info) {
  return pci_info_v2(handle, info);
}

UNSTARVE_NVML nvmlDeviceGetPciInfo(nvml::DeviceHandle handle, nvml::PciInfoV2* info) {
  return pci_info_v2(handle, info);
}

UNSTARVE_NVML nvmlDeviceGetBrand(nvml::DeviceHandle handle, std::uint32_t* brand) {
  return read_value(handle, brand, [](NvmlDevice&) { return nvml::kBrandNvidia; });
}

UNSTARVE_NVML nvmlDeviceGetArchitecture(nvml::DeviceHandle handle, std::uint32_t* architecture) {
  return read_value(handle, architecture,
                    [](NvmlDevice& device) { return architecture_of(device.profile()); });
}

UNSTARVE_NVML nvmlDeviceGetCudaComputeCapability(nvml::DeviceHandle handle, std::int32_t* major,
                                                 std::int32_t* minor) {
  return with_device(handle, [&](NvmlDevice& device) {
    if (major == nullptr || minor == nullptr) return Return::kInvalidArgument;
    *major = device.profile().compute_major;
    *minor = device.profile().compute_minor;
    return Return::kSuccess;
  });
}

UNSTARVE_NVML nvmlDeviceGetMemoryBusWidth(nvml::DeviceHandle handle, std::uint32_t* bits) {
  return read_value(handle, bits,
                    [](NvmlDevice& device) { return device.profile().memory_bus_bits; });
}

UNSTARVE_NVML nvmlDeviceGetMultiGpuBoard(nvml::DeviceHandle handle, std::uint32_t* is_multiple) {
  return read_value(handle, is_multiple, [](NvmlDevice&) { return 0; });
}

// Modes: none of these exists on an emulated GPU, so they are off.
UNSTARVE_NVML nvmlDeviceGetPersistenceMode(nvml::DeviceHandle handle, std::uint32_t* mode) {
  return read_value(handle, mode, [](NvmlDevice&) { return 0; });
}

UNSTARVE_NVML nvmlDeviceGetComputeMode(nvml::DeviceHandle handle, std::uint32_t* mode) {
  return read_value(handle, mode, [](NvmlDevice&) { return 0; });
}

UNSTARVE_NVML nvmlDeviceGetDisplayMode(nvml::DeviceHandle handle, std::uint32_t* mode) {
  return read_value(handle, mode, [](NvmlDevice&) { return 0; });
}

UNSTARVE_NVML nvmlDeviceGetDisplayActive(nvml::DeviceHandle handle, std::uint32_t* active) {
  return read_value(handle, active, [](NvmlDevice&) { return 0; });
}

UNSTARVE_NVML nvmlDeviceGetAccountingMode(nvml::DeviceHandle handle, std::uint32_t* mode) {
  return read_value(handle, mode, [](NvmlDevice&) { return 0; });
}

UNSTARVE_NVML nvmlDeviceGetVirtualizationMode(nvml::DeviceHandle handle, std::uint32_t* mode) {
  return read_value(handle, mode, [](NvmlDevice&) { return 0; });
}

UNSTARVE_NVML nvmlDeviceGetNumFans(nvml::DeviceHandle handle, std::uint32_t* fans) {
  return read_value(handle, fans, [](NvmlDevice&) { return 0; });
}
