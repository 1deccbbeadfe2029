#include "roofline/roofs/gpu/gpu_state.h"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <utility>

#include "device/cuda/gpu_link.h"

namespace unstarve::roofline {

namespace {

constexpr const char* kNvml = "libnvidia-ml.so.1";

std::optional<device::NvmlLibrary> open_nvml() {
  auto nvml = device::NvmlLibrary::open(kNvml);
  if (!nvml) return std::nullopt;
  return std::move(*nvml);
}

/// The GPU of this name; nullptr: NVML has none.
device::nvml::DeviceHandle find_device(const device::NvmlLibrary& nvml, const std::string& uuid) {
  const auto count = nvml.device_count();
  for (std::uint32_t i = 0; count && i < *count; ++i) {
    const auto device = nvml.device(i);
    if (!device) continue;
    const auto found = nvml.uuid(*device);
    if (found && *found == uuid) return *device;
  }
  return nullptr;
}

/// The lowest or highest of what a call says of each GPU; nothing where it fails for one.
template <class Call, class Better>
std::optional<std::int64_t> of_all(const std::vector<device::nvml::DeviceHandle>& devices,
                                   Call call, Better better) {
  std::optional<std::int64_t> kept;
  for (const auto device : devices) {
    const auto value = call(device);
    if (!value) return std::nullopt;
    const auto number = static_cast<std::int64_t>(*value);
    if (!kept || better(number, *kept)) kept = number;
  }
  return kept;
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
  device_ = find_device(*nvml_, uuid);
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

GpuGroupState::GpuGroupState(const std::vector<std::string>& uuids) : nvml_(open_nvml()) {
  if (!nvml_) return;
  for (const std::string& uuid : uuids) {
    devices_.push_back(find_device(*nvml_, uuid));
    if (devices_.back() != nullptr) continue;
    nvml_.reset();
    return;
  }
  temperature_before_c_ = of_all(
      devices_, [this](auto device) { return nvml_->temperature_c(device); }, std::greater<>());
}

Conditions GpuGroupState::conditions() const {
  if (!nvml_) return {{"nvml", false}};
  Conditions found;
  if (const auto version = nvml_->driver_version()) found.emplace_back("driver", *version);
  const auto add = [&](const char* name, auto call, auto better) {
    if (const auto value = of_all(devices_, call, better)) found.emplace_back(name, *value);
  };
  const auto limit = of_all(
      devices_, [this](auto device) { return nvml_->power_limit_mw(device); }, std::less<>());
  if (limit) found.emplace_back("power_cap_w", 1e-3 * static_cast<double>(*limit));
  add(
      "sm_clock_mhz",
      [this](auto device) { return nvml_->clock_mhz(device, device::nvml::kClockSm); },
      std::less<>());
  if (temperature_before_c_) found.emplace_back("temperature_before_c", *temperature_before_c_);
  add(
      "temperature_after_c", [this](auto device) { return nvml_->temperature_c(device); },
      std::greater<>());
  add(
      "nvlinks", [this](auto device) { return device::nvlinks_up(*nvml_, device); }, std::less<>());
  return found;
}

Conditions GpuGroupState::link(std::size_t first, std::size_t other) const {
  if (!nvml_) return {};
  const auto link = device::link_between(*nvml_, devices_[first], devices_[other]);
  if (!link) return {};
  return {{"link", *link}};
}

Conditions GpuGroupState::links() const {
  if (!nvml_) return {};
  std::map<std::string, int> pairs;
  for (std::size_t first = 0; first < devices_.size(); ++first) {
    for (std::size_t other = first + 1; other < devices_.size(); ++other) {
      const auto link = device::link_between(*nvml_, devices_[first], devices_[other]);
      if (!link) return {};
      ++pairs[*link];
    }
  }
  if (pairs.empty()) return {};
  if (pairs.size() == 1) return {{"link", pairs.begin()->first}};
  std::string text;
  for (const auto& [link, count] : pairs) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", link, count);
  }
  return {{"link", text}};
}

}  // namespace unstarve::roofline
