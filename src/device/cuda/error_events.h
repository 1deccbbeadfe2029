#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/reading.h"
#include "device/cuda/nvml_library.h"
#include "device/gpu_readings.h"

namespace unstarve::device {

/// The errors (XID) that the driver reports of one GPU, from the first read() on. Never waits: the
/// driver collects them, and each read() takes what has arrived. Where events are refused (no
/// permission, WSL, a vGPU) the readings are absent for good with the reason.
/// Lifetime: frees its event set, so it must go before the library.
class ErrorEvents {
 public:
  /// `gpu_instance`: of a GPU in MIG mode the job's, so that errors of others are left out.
  ErrorEvents(const NvmlLibrary& library, nvml::DeviceHandle device,
              std::optional<std::uint32_t> gpu_instance = std::nullopt);
  ~ErrorEvents();
  ErrorEvents(const ErrorEvents&) = delete;
  ErrorEvents& operator=(const ErrorEvents&) = delete;

  /// Fills in the readings of errors.
  void read(GpuReadings& readings);

 private:
  bool prepare();
  void give_up(nvml::Return code);
  void take(std::vector<GpuError>& errors);

  const NvmlLibrary& library_;
  nvml::DeviceHandle device_;
  std::optional<std::uint32_t> gpu_instance_;
  nvml::EventSet set_ = nullptr;
  bool registered_ = false;
  std::optional<WhyAbsent> given_up_;
  std::int64_t count_ = 0;
  Reading<std::int64_t> last_;
};

}  // namespace unstarve::device
