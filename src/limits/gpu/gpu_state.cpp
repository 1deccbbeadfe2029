#include "limits/gpu/gpu_state.h"

#include <utility>

namespace unstarve::limits {

namespace {

constexpr const char* kNvml = "libnvidia-ml.so.1";

std::optional<device::NvmlLibrary> open_nvml() {
  auto nvml = device::NvmlLibrary::open(kNvml);
  if (!nvml) return std::nullopt;
  return std::move(*nvml);
}

}  // namespace

std::vector<MachineGpu> look_at_gpus() {
  std::vector<MachineGpu> gpus;
  const auto nvml = open_nvml();
  if (!nvml) return gpus;
  const auto count = nvml->device_count();
  for (std::uint32_t i = 0; count && i < *count; ++i) {
    const auto device = nvml->device(i);
    if (!device) continue;
    const auto name = nvml->device_name(*device);
    const auto uuid = nvml->uuid(*device);
    gpus.push_back({name ? *name : "unknown GPU", uuid ? *uuid : "unknown"});
  }
  return gpus;
}

bool is_emulated(const MachineGpu& gpu) { return gpu.name.rfind("Emulated", 0) == 0; }

GpuState::GpuState(const std::string& uuid) : nvml_(open_nvml()) {
  if (!nvml_) return;
  const auto count = nvml_->device_count();
  for (std::uint32_t i = 0; count && i < *count; ++i) {
    const auto device = nvml_->device(i);
    if (!device) continue;
    const auto found = nvml_->uuid(*device);
    if (found && *found == uuid) device_ = *device;
  }
  if (device_ == nullptr) {
    nvml_.reset();
    return;
  }
  if (const auto now = nvml_->temperature_c(device_)) temperature_before_c_ = *now;
}

Conditions GpuState::conditions() const {
  if (!nvml_) return {{"nvml", false}};
  Conditions found;
  if (const auto version = nvml_->driver_version()) found.emplace_back("driver", *version);
  if (const auto limit = nvml_->power_limit_mw(device_)) {
    found.emplace_back("power_cap_w", 1e-3 * static_cast<double>(*limit));
  }
  if (const auto clock = nvml_->clock_mhz(device_, device::nvml::kClockSm)) {
    found.emplace_back("sm_clock_mhz", std::int64_t{*clock});
  }
  if (temperature_before_c_) {
    found.emplace_back("temperature_before_c", *temperature_before_c_);
  }
  if (const auto now = nvml_->temperature_c(device_)) {
    found.emplace_back("temperature_after_c", std::int64_t{*now});
  }
  return found;
}

}  // namespace unstarve::limits
