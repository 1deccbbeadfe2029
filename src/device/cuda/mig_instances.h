#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/reading.h"
#include "device/cuda/nvml_library.h"
#include "device/gpu_monitor.h"

namespace unstarve::device {

/// How a GPU is split by MIG: its instances, and beside each its handle.
struct MigState {
  Reading<bool> on;
  std::vector<MigInstance> instances;
  std::vector<nvml::DeviceHandle> handles;
};

MigState read_mig(const NvmlLibrary& library, nvml::DeviceHandle device);

/// Which of a GPU's instances a job uses, by its CUDA_VISIBLE_DEVICES; CUDA gives a process one at
/// most. One that is named by UUID ("MIG-...") or in the form of early drivers
/// ("MIG-GPU-UUID/gpu instance/compute instance") is found by it; where only the GPU is named, by
/// its number or its UUID, or nothing is, the only one that there is. None: there is no telling, or
/// the job's is on another GPU.
std::optional<std::size_t> instance_of_job(const GpuDescription& gpu,
                                           const std::optional<std::string>& visible_devices);

}  // namespace unstarve::device
