#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "device/gpu_monitor.h"

namespace unstarve::device {

struct GpuMonitorOptions {
  /// An NVML library to use instead of the driver's; this is how the emulated GPU's is chosen.
  std::string nvml_path = {};
  /// Where the driver's library is looked for when nvml_path is empty; tests put a missing one.
  std::string system_nvml = "libnvidia-ml.so.1";
  /// CUDA_VISIBLE_DEVICES as the job has it, which names its instance of a GPU in MIG mode; none:
  /// it is not set.
  std::optional<std::string> visible_devices = {};
};

/// The library named by the options, else the driver's, else a monitor without devices whose
/// source() says why. Only a library that was asked for by path and cannot be used is an error.
/// `clock` must outlive the monitor.
Result<std::unique_ptr<GpuMonitor>> open_gpu_monitor(const GpuMonitorOptions& options,
                                                     const Clock& clock);

}  // namespace unstarve::device
