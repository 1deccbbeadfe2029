// NVML's functions about the processes that use a GPU.
#include <algorithm>

#include "emulated/nvml/session.h"

using namespace unstarve::emulated;

using nvml::Return;

namespace {

template <class Info>
Return list_processes(nvml::DeviceHandle handle, std::uint32_t* count, Info* infos) noexcept {
  return with_part(handle, [&](NvmlDevice& device, const NvmlInstance* instance) {
    if (count == nullptr) return Return::kInvalidArgument;
    const bool in_use = instance == nullptr || instance->index == 0;
    const std::vector<GpuUser> users = in_use ? device.users() : std::vector<GpuUser>();
    const std::uint32_t room = *count;
    *count = static_cast<std::uint32_t>(users.size());
    if (users.empty()) return Return::kSuccess;
    if (room < users.size() || infos == nullptr) return Return::kInsufficientSize;
    for (std::size_t i = 0; i < users.size(); ++i) {
      infos[i] = Info{};
      infos[i].pid = static_cast<std::uint32_t>(users[i].pid);
      infos[i].used_memory = users[i].memory_bytes;
    }
    return Return::kSuccess;
  });
}

Return list_with_instances(nvml::DeviceHandle handle, std::uint32_t* count,
                           nvml::ProcessInfoV2* infos) noexcept {
  const Return listed = list_processes(handle, count, infos);
  if (listed != Return::kSuccess) return listed;
  for (std::uint32_t i = 0; i < *count; ++i) {
    infos[i].gpu_instance = infos[i].compute_instance = nvml::kNoInstance;
  }
  return listed;
}

/// Nothing draws on an emulated GPU, and no process of it runs under MPS.
Return list_none(nvml::DeviceHandle handle, std::uint32_t* count) noexcept {
  return read_value(handle, count, [](NvmlDevice&) { return 0; });
}

}  // namespace

UNSTARVE_NVML nvmlDeviceGetComputeRunningProcesses(nvml::DeviceHandle handle, std::uint32_t* count,
                                                   nvml::ProcessInfoV1* infos) {
  return list_processes(handle, count, infos);
}

UNSTARVE_NVML nvmlDeviceGetComputeRunningProcesses_v2(nvml::DeviceHandle handle,
                                                      std::uint32_t* count,
                                                      nvml::ProcessInfoV2* infos) {
  return list_with_instances(handle, count, infos);
}

UNSTARVE_NVML nvmlDeviceGetComputeRunningProcesses_v3(nvml::DeviceHandle handle,
                                                      std::uint32_t* count,
                                                      nvml::ProcessInfoV2* infos) {
  return list_with_instances(handle, count, infos);
}

UNSTARVE_NVML nvmlDeviceGetGraphicsRunningProcesses(nvml::DeviceHandle handle, std::uint32_t* count,
                                                    nvml::ProcessInfoV1* /*infos*/) {
  return list_none(handle, count);
}

UNSTARVE_NVML nvmlDeviceGetGraphicsRunningProcesses_v2(nvml::DeviceHandle handle,
                                                       std::uint32_t* count,
                                                       nvml::ProcessInfoV2* /*infos*/) {
  return list_none(handle, count);
}

UNSTARVE_NVML nvmlDeviceGetGraphicsRunningProcesses_v3(nvml::DeviceHandle handle,
                                                       std::uint32_t* count,
                                                       nvml::ProcessInfoV2* /*infos*/) {
  return list_none(handle, count);
}

UNSTARVE_NVML nvmlDeviceGetMPSComputeRunningProcesses_v3(nvml::DeviceHandle handle,
                                                         std::uint32_t* count,
                                                         nvml::ProcessInfoV2* /*infos*/) {
  return list_none(handle, count);
}

UNSTARVE_NVML nvmlDeviceGetProcessUtilization(nvml::DeviceHandle handle,
                                              nvml::ProcessUtilizationSample* samples,
                                              std::uint32_t* count, std::uint64_t after_us) {
  return with_device(handle, [&](NvmlDevice& device) {
    if (count == nullptr) return Return::kInvalidArgument;
    const BoardHistory::Window& latest = device.latest();
    const std::uint32_t room = *count;
    *count = static_cast<std::uint32_t>(latest.processes.size());
    const std::uint64_t time_us = to_wall_us(latest.end_ns);
    if (latest.processes.empty() || time_us <= after_us) return Return::kNotFound;
    if (samples == nullptr || room < latest.processes.size()) return Return::kInsufficientSize;
    for (const auto& [pid, share] : latest.processes) {
      *samples++ = {.pid = static_cast<std::uint32_t>(pid),
                    .time_us = time_us,
                    .sm_percent = to_percent(share.kernel_ratio),
                    .memory_percent = to_percent(share.dram_ratio)};
    }
    return Return::kSuccess;
  });
}
