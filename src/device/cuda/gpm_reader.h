#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "base/reading.h"
#include "device/cuda/nvml_library.h"
#include "device/gpu_readings.h"

namespace unstarve::device {

/// The hardware's own activity counters, on Hopper and later: differences between two samples that
/// lie at least 100 ms apart, which is how often the driver refreshes them. Needs no root.
/// Lifetime: frees its samples, so it must go before the library.
class GpmReader {
 public:
  /// `gpu_instance`: of a GPU in MIG mode, the one whose counters are read; none: all of the GPU's.
  GpmReader(const NvmlLibrary& library, nvml::DeviceHandle device,
            std::optional<std::uint32_t> gpu_instance = std::nullopt);
  ~GpmReader();
  GpmReader(const GpmReader&) = delete;
  GpmReader& operator=(const GpmReader&) = delete;

  /// Fills in the GPM readings; between two samples those of the last pair, while they are fresh.
  void read(const Clock& clock, GpuReadings& readings);

 private:
  bool prepare();
  NvmlResult<bool> take_sample();
  void give_up(nvml::Return code);
  void compare();

  const NvmlLibrary& library_;
  nvml::DeviceHandle device_;
  std::optional<std::uint32_t> gpu_instance_;
  bool prepared_ = false;
  std::optional<WhyAbsent> given_up_;
  nvml::GpmSample earlier_ = nullptr;
  nvml::GpmSample later_ = nullptr;
  std::optional<std::int64_t> later_taken_ns_;
  Reading<double> sm_, tensor_, dram_;
};

}  // namespace unstarve::device
