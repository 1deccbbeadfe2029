#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/cuda/nvml_library.h"
#include "roofline/roofs/machine.h"
#include "roofline/roofs/roof.h"

namespace unstarve::roofline {

/// The GPUs that NVML names, in its order; none where it is not there.
std::vector<MachineGpu> look_at_gpus();

/// Whether it is one of ours, which computes nothing.
bool is_emulated(const MachineGpu& gpu);

/// What NVML says of one GPU while it is measured.
///
///   GpuState state("GPU-...");
///   measure(); const Conditions conditions = state.conditions();
///
/// Thread rule: one thread.
class GpuState {
 public:
  explicit GpuState(const std::string& uuid);
  /// Driver, power cap, clock now, temperature when it was made and now. What NVML does not say is
  /// not among them, and without NVML `nvml` is false.
  Conditions conditions() const;

 private:
  std::optional<device::NvmlLibrary> nvml_;
  device::nvml::DeviceHandle device_ = nullptr;
  std::optional<std::int64_t> temperature_before_c_;
};

/// The same of GPUs that work together.
///
/// Thread rule: one thread.
class GpuGroupState {
 public:
  explicit GpuGroupState(const std::vector<std::string>& uuids);
  /// Driver, the lowest power cap and clock, the highest temperatures; `nvlinks` of the GPU that
  /// has fewest, where NVML says it.
  Conditions conditions() const;
  /// What joins two of them, as counted in the constructor's list: `link`; none: NVML does not say.
  Conditions link(std::size_t first, std::size_t other) const;
  /// Of all pairs, where it is the same; else how many have which: "NVLink (2), PCIe switches (4)".
  Conditions links() const;

 private:
  std::optional<device::NvmlLibrary> nvml_;
  std::vector<device::nvml::DeviceHandle> devices_;
  std::optional<std::int64_t> temperature_before_c_;
};

}  // namespace unstarve::roofline
