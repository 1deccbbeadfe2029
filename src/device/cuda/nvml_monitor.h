#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "device/cuda/error_events.h"
#include "device/cuda/gpm_reader.h"
#include "device/cuda/nvml_library.h"
#include "device/gpu_monitor.h"

namespace unstarve::device {

/// Reads GPUs through NVML, a real one or the emulated GPU's. A metric that a device refuses for
/// good (not supported, no permission) is asked once and then left alone; what may pass (busy, a
/// lost GPU) is asked again, and never keeps the other devices from being read.
class NvmlMonitor final : public GpuMonitor {
 public:
  /// `visible_devices` is GpuMonitorOptions::visible_devices.
  NvmlMonitor(NvmlLibrary library, const Clock& clock,
              std::optional<std::string> visible_devices = std::nullopt);
  ~NvmlMonitor() override;

  Result<std::vector<GpuDescription>> enumerate() override;
  Result<GpuReadings> read(std::int32_t index) override;
  Result<std::vector<UtilizationSample>> utilization_samples(std::int32_t index) override;
  std::string source() const override { return "NVML (" + library_->name() + ")"; }

 private:
  enum class Metric {
    kUtilization,
    kMemory,
    kPower,
    kEnergy,
    kTemperature,
    kSmClock,
    kMemoryClock,
    kThrottleReasons,
    kPcie,
    kProcesses,
    kSamples,
    kCount
  };
  /// Why each metric will never be read again, if so.
  using Latches = std::array<std::optional<WhyAbsent>, static_cast<std::size_t>(Metric::kCount)>;
  struct Device {
    GpuDescription description;
    nvml::DeviceHandle handle = nullptr;
    nvml::DeviceHandle part = nullptr;  // the job's MIG instance, or the same
    Latches latched;
    std::unique_ptr<GpmReader> gpm;
    std::unique_ptr<ErrorEvents> errors;
    std::uint64_t last_sample_us = 0;
  };

  Result<Device*> find(std::int32_t index);
  Device describe(std::int32_t index, nvml::DeviceHandle handle) const;
  /// Which MIG instance the job has, if the GPU is split.
  void find_instance(Device& device) const;
  void read_pcie(Device& device, GpuReadings& readings);
  template <class T>
  static WhyAbsent absent(Device& device, Metric metric, const NvmlResult<T>& refused);
  /// Asks for one metric unless it is latched; `convert` turns the driver's value into ours.
  template <class Ask, class Convert>
  static auto ask(Device& device, Metric metric, Ask ask, Convert convert)
      -> Reading<decltype(convert(*ask()))>;

  std::unique_ptr<NvmlLibrary> library_;
  const Clock& clock_;
  const std::optional<std::string> visible_devices_;
  std::vector<Device> devices_;
};

}  // namespace unstarve::device
