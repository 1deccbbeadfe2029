// NVML's functions about how a GPU is doing now.
#include <algorithm>
#include <cmath>

#include "emulated/nvml/session.h"

using namespace unstarve::emulated;

using nvml::Return;

namespace {

double power_limit_w(const Profile& profile) { return profile.power_cap_w; }

/// Bytes a second over the bus in the latest window, in KB as NVML gives them.
std::uint32_t kilobytes_per_s(const BoardHistory& history, bool sent) {
  const auto& windows = history.windows();
  if (windows.size() < 2) return 0;
  const auto bytes = [sent](const BoardHistory::Window& window) {
    return sent ? window.pcie_tx_bytes : window.pcie_rx_bytes;
  };
  const double moved = bytes(windows.back()) - bytes(windows[windows.size() - 2]);
  return static_cast<std::uint32_t>(moved * 1e6 / static_cast<double>(BoardHistory::kWindowNs));
}

Return clock_mhz(nvml::DeviceHandle handle, std::uint32_t which, std::uint32_t* mhz, bool highest) {
  return with_device(handle, [&](NvmlDevice& device) {
    if (mhz == nullptr) return Return::kInvalidArgument;
    const bool memory = which == nvml::kClockMemory;
    if (!memory && which != nvml::kClockSm && which != nvml::kClockGraphics) {
      return Return::kNotSupported;
    }
    const BoardModel::State& board = device.latest().board;
    const Profile& profile = device.profile();
    const double value = memory    ? (highest ? profile.memory_mhz : board.memory_clock_mhz)
                         : highest ? profile.boost_sm_mhz
                                   : board.sm_clock_mhz;
    *mhz = static_cast<std::uint32_t>(std::lround(value));
    return Return::kSuccess;
  });
}

Return throttle_reasons(nvml::DeviceHandle handle, std::uint64_t* reasons) {
  return read_value(handle, reasons,
                    [](NvmlDevice& device) { return device.latest().board.throttle_reasons; });
}

/// Of a GPU, or of an instance of it: what is used is the first one's.
nvml::MemoryV1 memory_of(NvmlDevice& device, const NvmlInstance* instance) {
  nvml::MemoryV1 memory;
  const std::int64_t total =
      instance == nullptr ? device.profile().total_memory_bytes : instance->memory_bytes();
  const bool in_use = instance == nullptr || instance->index == 0;
  memory.total = static_cast<std::uint64_t>(total);
  memory.used = in_use ? std::min(memory.total, device.memory_used()) : 0;
  memory.free = memory.total - memory.used;
  return memory;
}

/// NVML does not give them of a GPU that is split.
bool is_utilization(std::uint32_t type) {
  return type == nvml::kGpuUtilizationSamples || type == nvml::kMemoryUtilizationSamples;
}

/// One value of the device, by NVML's number of the field; false: there is no such.
bool read_field(NvmlDevice& device, nvml::FieldValue& field) {
  const BoardHistory::Window& latest = device.latest();
  field.type = nvml::ValueType::kUnsignedLongLong;
  const auto whole = [&field](double value) {
    field.value.bits = static_cast<std::uint64_t>(value);
    return true;
  };
  switch (field.field) {
    case nvml::kFieldPcieTxBytes: return whole(latest.pcie_tx_bytes);
    case nvml::kFieldPcieRxBytes: return whole(latest.pcie_rx_bytes);
    case nvml::kFieldEnergy: return whole(1e3 * latest.board.energy_j);
    default: field.type = nvml::ValueType::kUnsignedInt;
  }
  switch (field.field) {
    case nvml::kFieldPowerAverage:
    case nvml::kFieldPowerInstant: return whole(1e3 * latest.board.power_w);
    case nvml::kFieldPowerLimit: return whole(1e3 * power_limit_w(device.profile()));
    default: return false;
  }
}

/// What NVML samples, of one window; false: it samples nothing of that kind here.
bool sample(const BoardHistory::Window& window, std::uint32_t type, std::uint64_t* value) {
  switch (type) {
    case nvml::kPowerSamples: *value = to_milliwatts(window.board.power_w); return true;
    case nvml::kGpuUtilizationSamples: *value = to_percent(window.utilization_ratio); return true;
    case nvml::kMemoryUtilizationSamples:
      *value = to_percent(window.memory_controller_ratio);
      return true;
    case nvml::kSmClockSamples:
      *value = static_cast<std::uint64_t>(window.board.sm_clock_mhz);
      return true;
    case nvml::kMemoryClockSamples:
      *value = static_cast<std::uint64_t>(window.board.memory_clock_mhz);
      return true;
    default: return false;
  }
}

}  // namespace

UNSTARVE_NVML nvmlDeviceGetMemoryInfo(nvml::DeviceHandle handle, nvml::MemoryV1* info) {
  return with_part(handle, [&](NvmlDevice& device, const NvmlInstance* instance) {
    if (info == nullptr) return Return::kInvalidArgument;
    *info = memory_of(device, instance);
    return Return::kSuccess;
  });
}

UNSTARVE_NVML nvmlDeviceGetMemoryInfo_v2(nvml::DeviceHandle handle, nvml::MemoryV2* info) {
  return with_part(handle, [&](NvmlDevice& device, const NvmlInstance* instance) {
    if (info == nullptr) return Return::kInvalidArgument;
    if (info->version != nvml::kMemoryV2Version) return Return::kArgumentVersionMismatch;
    const nvml::MemoryV1 memory = memory_of(device, instance);
    info->total = memory.total;
    info->reserved = 0;
    info->used = memory.used;
    info->free = memory.free;
    return Return::kSuccess;
  });
}

UNSTARVE_NVML nvmlDeviceGetUtilizationRates(nvml::DeviceHandle handle, nvml::Utilization* rates) {
  return with_device(handle, [&](NvmlDevice& device) {
    if (rates == nullptr) return Return::kInvalidArgument;
    if (!device.instances().empty()) return Return::kNotSupported;
    const BoardHistory::Window& latest = device.latest();
    rates->gpu = to_percent(latest.utilization_ratio);
    rates->memory = to_percent(latest.memory_controller_ratio);
    return Return::kSuccess;
  });
}

UNSTARVE_NVML nvmlDeviceGetPowerUsage(nvml::DeviceHandle handle, std::uint32_t* mw) {
  return read_value(
      handle, mw, [](NvmlDevice& device) { return to_milliwatts(device.latest().board.power_w); });
}

UNSTARVE_NVML nvmlDeviceGetPowerManagementLimit(nvml::DeviceHandle handle, std::uint32_t* mw) {
  return read_value(handle, mw, [](NvmlDevice& device) {
    return to_milliwatts(power_limit_w(device.profile()));
  });
}

UNSTARVE_NVML nvmlDeviceGetEnforcedPowerLimit(nvml::DeviceHandle handle, std::uint32_t* mw) {
  return nvmlDeviceGetPowerManagementLimit(handle, mw);
}

UNSTARVE_NVML nvmlDeviceGetPowerManagementDefaultLimit(nvml::DeviceHandle handle,
                                                       std::uint32_t* mw) {
  return nvmlDeviceGetPowerManagementLimit(handle, mw);
}

UNSTARVE_NVML nvmlDeviceGetPowerManagementLimitConstraints(nvml::DeviceHandle handle,
                                                           std::uint32_t* low,
                                                           std::uint32_t* high) {
  return with_device(handle, [&](NvmlDevice& device) {
    if (low == nullptr || high == nullptr) return Return::kInvalidArgument;
    *low = *high = to_milliwatts(power_limit_w(device.profile()));
    return Return::kSuccess;
  });
}

UNSTARVE_NVML nvmlDeviceGetPowerManagementMode(nvml::DeviceHandle handle, std::uint32_t* mode) {
  return read_value(handle, mode, [](NvmlDevice&) { return 1; });
}

UNSTARVE_NVML nvmlDeviceGetTotalEnergyConsumption(nvml::DeviceHandle handle, std::uint64_t* mj) {
  return read_value(handle, mj, [](NvmlDevice& device) {
    return std::llround(1e3 * device.latest().board.energy_j);
  });
}

// It runs at its highest state, or idles there: P0.
UNSTARVE_NVML nvmlDeviceGetPerformanceState(nvml::DeviceHandle handle, std::uint32_t* state) {
  return read_value(handle, state, [](NvmlDevice&) { return 0; });
}

UNSTARVE_NVML nvmlDeviceGetPowerState(nvml::DeviceHandle handle, std::uint32_t* state) {
  return nvmlDeviceGetPerformanceState(handle, state);
}

UNSTARVE_NVML nvmlDeviceGetTemperature(nvml::DeviceHandle handle, std::uint32_t sensor,
                                       std::uint32_t* celsius) {
  if (sensor != nvml::kTemperatureGpu) return Return::kInvalidArgument;
  return read_value(handle, celsius, [](NvmlDevice& device) {
    return std::lround(device.latest().board.temperature_c);
  });
}

UNSTARVE_NVML nvmlDeviceGetTemperatureV(nvml::DeviceHandle handle,
                                        nvml::TemperatureV1* temperature) {
  return with_device(handle, [&](NvmlDevice& device) {
    if (temperature == nullptr) return Return::kInvalidArgument;
    if (temperature->version != nvml::kTemperatureV1Version) {
      return Return::kArgumentVersionMismatch;
    }
    if (temperature->sensor != nvml::kTemperatureGpu) return Return::kInvalidArgument;
    temperature->celsius =
        static_cast<std::int32_t>(std::lround(device.latest().board.temperature_c));
    return Return::kSuccess;
  });
}

UNSTARVE_NVML nvmlDeviceGetTemperatureThreshold(nvml::DeviceHandle handle, std::uint32_t which,
                                                std::uint32_t* celsius) {
  if (which != nvml::kTemperatureSlowdown && which != nvml::kTemperatureGpuMax) {
    return Return::kNotSupported;
  }
  return read_value(handle, celsius,
                    [](NvmlDevice& device) { return std::lround(device.profile().slowdown_c); });
}

UNSTARVE_NVML nvmlDeviceGetClockInfo(nvml::DeviceHandle handle, std::uint32_t which,
                                     std::uint32_t* mhz) {
  return clock_mhz(handle, which, mhz, false);
}

UNSTARVE_NVML nvmlDeviceGetMaxClockInfo(nvml::DeviceHandle handle, std::uint32_t which,
                                        std::uint32_t* mhz) {
  return clock_mhz(handle, which, mhz, true);
}

UNSTARVE_NVML nvmlDeviceGetApplicationsClock(nvml::DeviceHandle handle, std::uint32_t which,
                                             std::uint32_t* mhz) {
  return clock_mhz(handle, which, mhz, true);
}

UNSTARVE_NVML nvmlDeviceGetCurrentClocksEventReasons(nvml::DeviceHandle handle,
                                                     std::uint64_t* reasons) {
  return throttle_reasons(handle, reasons);
}

UNSTARVE_NVML nvmlDeviceGetCurrentClocksThrottleReasons(nvml::DeviceHandle handle,
                                                        std::uint64_t* reasons) {
  return throttle_reasons(handle, reasons);
}

UNSTARVE_NVML nvmlDeviceGetEncoderUtilization(nvml::DeviceHandle handle, std::uint32_t* percent,
                                              std::uint32_t* period_us) {
  return with_device(handle, [&](NvmlDevice&) {
    if (percent == nullptr || period_us == nullptr) return Return::kInvalidArgument;
    *percent = 0;
    *period_us = static_cast<std::uint32_t>(BoardHistory::kWindowNs / 1000);
    return Return::kSuccess;
  });
}

UNSTARVE_NVML nvmlDeviceGetDecoderUtilization(nvml::DeviceHandle handle, std::uint32_t* percent,
                                              std::uint32_t* period_us) {
  return nvmlDeviceGetEncoderUtilization(handle, percent, period_us);
}

UNSTARVE_NVML nvmlDeviceGetPcieThroughput(nvml::DeviceHandle handle, std::uint32_t counter,
                                          std::uint32_t* kilobytes) {
  if (counter != nvml::kPcieTx && counter != nvml::kPcieRx) return Return::kInvalidArgument;
  return read_value(handle, kilobytes, [counter](NvmlDevice& device) {
    return kilobytes_per_s(device.history(), counter == nvml::kPcieTx);
  });
}

UNSTARVE_NVML nvmlDeviceGetPcieReplayCounter(nvml::DeviceHandle handle, std::uint32_t* count) {
  return read_value(handle, count, [](NvmlDevice&) { return 0; });
}

UNSTARVE_NVML nvmlDeviceGetFieldValues(nvml::DeviceHandle handle, std::int32_t count,
                                       nvml::FieldValue* fields) {
  return with_device(handle, [&](NvmlDevice& device) {
    if (fields == nullptr || count < 0) return Return::kInvalidArgument;
    for (nvml::FieldValue& field : std::span(fields, static_cast<std::size_t>(count))) {
      field.status = read_field(device, field) ? Return::kSuccess : Return::kNotSupported;
    }
    return Return::kSuccess;
  });
}

UNSTARVE_NVML nvmlDeviceGetSamples(nvml::DeviceHandle handle, std::uint32_t type,
                                   std::uint64_t after_us, std::uint32_t* value_type,
                                   std::uint32_t* count, nvml::Sample* samples) {
  return with_device(handle, [&](NvmlDevice& device) {
    if (value_type == nullptr || count == nullptr) return Return::kInvalidArgument;
    if (!device.instances().empty() && is_utilization(type)) return Return::kNotSupported;
    std::uint64_t value = 0;
    if (!sample(device.latest(), type, &value)) return Return::kNotSupported;
    *value_type = static_cast<std::uint32_t>(nvml::ValueType::kUnsignedInt);
    std::uint32_t found = 0;
    for (const BoardHistory::Window& window : device.history().windows()) {
      const std::uint64_t time_us = to_wall_us(window.end_ns);
      // The two clocks are compared anew in each call; the tolerance keeps one window from coming
      // twice.
      if (time_us <= after_us + 1000) continue;
      sample(window, type, &value);
      if (samples != nullptr && found < *count) samples[found] = {time_us, {value}};
      ++found;
    }
    *count = samples == nullptr ? found : std::min(found, *count);
    return found == 0 ? Return::kNotFound : Return::kSuccess;
  });
}
