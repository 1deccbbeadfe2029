#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "device/cuda/nvml_abi.h"
#include "device/emulated/former_nvml/emulated_devices.h"

// NVML's C functions for emulated GPUs. They read the rings in the folder that the environment
// variable UNSTARVE_EMULATED_RINGS names. No exception leaves them and nothing is printed: they are
// called from C, in somebody else's program.

#define UNSTARVE_NVML extern "C" __attribute__((visibility("default")))

namespace {

using namespace unstarve;
using namespace unstarve::device;
using emulated::ActivityHistory;
using emulated::EmulatedDevice;
using emulated::EmulatedDevices;
using nvml::DeviceHandle;
using nvml::Return;

/// What nvmlInit makes and nvmlShutdown drops. NVML's interface has no place for a context, so this
/// is the one global of the library.
struct Session {
  SteadyClock clock;
  EmulatedDevices devices;
  explicit Session(const char* folder) : devices(folder, clock) {}
};

Mutex session_mutex;
std::unique_ptr<Session> session UNSTARVE_GUARDED_BY(session_mutex);
int session_users UNSTARVE_GUARDED_BY(session_mutex) = 0;

/// Calls `body` with the session, and turns every failure into a return code.
template <class Body>
Return with_session(Body body) noexcept {
  try {
    MutexLock lock(session_mutex);
    if (session == nullptr) return Return::kUninitialized;
    return body(*session);
  } catch (...) {
    return Return::kUnknown;
  }
}

/// Calls `body` with the device, brought up to now.
template <class Body>
Return with_device(DeviceHandle handle, Body body) noexcept {
  return with_session([&](Session& ours) {
    EmulatedDevice* device = ours.devices.follow(handle);
    return device == nullptr ? Return::kInvalidArgument : body(*device);
  });
}

Return copy_text(const std::string& text, char* out, std::uint32_t size) {
  if (out == nullptr) return Return::kInvalidArgument;
  if (text.size() + 1 > size) return Return::kInsufficientSize;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return Return::kSuccess;
}

std::uint32_t to_percent(double ratio) {
  return static_cast<std::uint32_t>(std::lround(100 * ratio));
}

std::uint64_t memory_used(const EmulatedDevice& device) {
  return device.writer_alive ? device.history.memory_used_bytes() : 0;
}

/// CLOCK_MONOTONIC to us since 1970, which is how NVML stamps samples.
std::uint64_t to_wall_us(const Session& ours, std::int64_t ns) {
  return static_cast<std::uint64_t>((ns + wall_time_ns() - ours.clock.now_ns()) / 1000);
}

/// The one process that an emulated GPU has, while it lives.
template <class Info>
Return list_processes(DeviceHandle handle, std::uint32_t* count, Info* infos) noexcept {
  return with_device(handle, [&](EmulatedDevice& device) {
    if (count == nullptr) return Return::kInvalidArgument;
    const std::uint32_t room = *count;
    *count = device.writer_alive ? 1 : 0;
    if (*count == 0) return Return::kSuccess;
    if (room < 1 || infos == nullptr) return Return::kInsufficientSize;
    infos[0] = Info{};
    infos[0].pid = static_cast<std::uint32_t>(device.history.writer_pid());
    infos[0].used_memory = memory_used(device);
    return Return::kSuccess;
  });
}

}  // namespace

UNSTARVE_NVML Return nvmlInit_v2() noexcept {
  try {
    MutexLock lock(session_mutex);
    if (session == nullptr) {
      // NOLINTNEXTLINE(concurrency-mt-unsafe): read once, as any library does when it is loaded.
      const char* folder = std::getenv("UNSTARVE_EMULATED_RINGS");
      if (folder == nullptr || *folder == '\0') return Return::kDriverNotLoaded;
      session = std::make_unique<Session>(folder);
    }
    ++session_users;
    return Return::kSuccess;
  } catch (...) {
    return Return::kUnknown;
  }
}

UNSTARVE_NVML Return nvmlShutdown() noexcept {
  return with_session([](Session&) UNSTARVE_REQUIRES(session_mutex) {
    if (--session_users == 0) session.reset();
    return Return::kSuccess;
  });
}

UNSTARVE_NVML Return nvmlDeviceGetCount_v2(std::uint32_t* count) noexcept {
  return with_session([&](Session& ours) {
    if (count == nullptr) return Return::kInvalidArgument;
    *count = static_cast<std::uint32_t>(ours.devices.refresh());
    return Return::kSuccess;
  });
}

UNSTARVE_NVML Return nvmlDeviceGetHandleByIndex_v2(std::uint32_t index,
                                                   DeviceHandle* handle) noexcept {
  return with_session([&](Session& ours) {
    EmulatedDevice* device = ours.devices.at(index);
    if (device == nullptr || handle == nullptr) return Return::kInvalidArgument;
    *handle = device;
    return Return::kSuccess;
  });
}

UNSTARVE_NVML Return nvmlDeviceGetName(DeviceHandle handle, char* name,
                                       std::uint32_t size) noexcept {
  return with_device(handle, [&](EmulatedDevice& device) {
    return copy_text(device.history.profile().device_name, name, size);
  });
}

UNSTARVE_NVML Return nvmlDeviceGetUUID(DeviceHandle handle, char* uuid,
                                       std::uint32_t size) noexcept {
  return with_device(handle, [&](EmulatedDevice& device) {
    return copy_text("GPU-emulated-" + std::to_string(device.history.writer_pid()) + "-" +
                         std::to_string(device.history.index()),
                     uuid, size);
  });
}

UNSTARVE_NVML Return nvmlDeviceGetMemoryInfo_v2(DeviceHandle handle,
                                                nvml::MemoryV2* info) noexcept {
  return with_device(handle, [&](EmulatedDevice& device) {
    if (info == nullptr) return Return::kInvalidArgument;
    if (info->version != nvml::kMemoryV2Version) return Return::kArgumentVersionMismatch;
    info->total = static_cast<std::uint64_t>(device.history.profile().total_memory_bytes);
    info->reserved = 0;
    info->used = memory_used(device);
    info->free = info->total - std::min(info->total, info->used);
    return Return::kSuccess;
  });
}

UNSTARVE_NVML Return nvmlDeviceGetUtilizationRates(DeviceHandle handle,
                                                   nvml::Utilization* rates) noexcept {
  return with_device(handle, [&](EmulatedDevice& device) {
    if (rates == nullptr) return Return::kInvalidArgument;
    rates->gpu = to_percent(device.history.latest().utilization_ratio);
    rates->memory = to_percent(device.history.latest().memory_controller_ratio);
    return Return::kSuccess;
  });
}

UNSTARVE_NVML Return nvmlDeviceGetPowerUsage(DeviceHandle handle, std::uint32_t* mw) noexcept {
  return with_device(handle, [&](EmulatedDevice& device) {
    if (mw == nullptr) return Return::kInvalidArgument;
    *mw = static_cast<std::uint32_t>(std::lround(1e3 * device.history.latest().board.power_w));
    return Return::kSuccess;
  });
}

UNSTARVE_NVML Return nvmlDeviceGetTotalEnergyConsumption(DeviceHandle handle,
                                                         std::uint64_t* mj) noexcept {
  return with_device(handle, [&](EmulatedDevice& device) {
    if (mj == nullptr) return Return::kInvalidArgument;
    *mj = static_cast<std::uint64_t>(std::llround(1e3 * device.history.latest().board.energy_j));
    return Return::kSuccess;
  });
}

UNSTARVE_NVML Return nvmlDeviceGetTemperature(DeviceHandle handle, std::uint32_t sensor,
                                              std::uint32_t* celsius) noexcept {
  return with_device(handle, [&](EmulatedDevice& device) {
    if (celsius == nullptr || sensor != nvml::kTemperatureGpu) return Return::kInvalidArgument;
    *celsius = static_cast<std::uint32_t>(std::lround(device.history.latest().board.temperature_c));
    return Return::kSuccess;
  });
}

UNSTARVE_NVML Return nvmlDeviceGetClockInfo(DeviceHandle handle, std::uint32_t which,
                                            std::uint32_t* mhz) noexcept {
  return with_device(handle, [&](EmulatedDevice& device) {
    if (mhz == nullptr) return Return::kInvalidArgument;
    const auto& board = device.history.latest().board;
    if (which != nvml::kClockSm && which != nvml::kClockMemory) return Return::kNotSupported;
    *mhz = static_cast<std::uint32_t>(
        std::lround(which == nvml::kClockSm ? board.sm_clock_mhz : board.memory_clock_mhz));
    return Return::kSuccess;
  });
}

UNSTARVE_NVML Return nvmlDeviceGetCurrentClocksEventReasons(DeviceHandle handle,
                                                            std::uint64_t* reasons) noexcept {
  return with_device(handle, [&](EmulatedDevice& device) {
    if (reasons == nullptr) return Return::kInvalidArgument;
    *reasons = device.history.latest().board.throttle_reasons;
    return Return::kSuccess;
  });
}

UNSTARVE_NVML Return nvmlDeviceGetFieldValues(DeviceHandle handle, std::int32_t count,
                                              nvml::FieldValue* fields) noexcept {
  return with_device(handle, [&](EmulatedDevice& device) {
    if (fields == nullptr || count < 0) return Return::kInvalidArgument;
    const ActivityHistory::Window& latest = device.history.latest();
    for (std::int32_t i = 0; i < count; ++i) {
      nvml::FieldValue& field = fields[i];
      const bool sent = field.field == nvml::kFieldPcieTxBytes;
      if (!sent && field.field != nvml::kFieldPcieRxBytes) {
        field.status = Return::kNotSupported;
        continue;
      }
      field.status = Return::kSuccess;
      field.type = nvml::ValueType::kUnsignedLongLong;
      field.value.bits =
          static_cast<std::uint64_t>(sent ? latest.pcie_tx_bytes : latest.pcie_rx_bytes);
    }
    return Return::kSuccess;
  });
}

UNSTARVE_NVML Return nvmlDeviceGetComputeRunningProcesses_v3(DeviceHandle handle,
                                                             std::uint32_t* count,
                                                             nvml::ProcessInfoV2* infos) noexcept {
  return list_processes(handle, count, infos);
}

// NOLINTNEXTLINE(readability-function-size): the six parameters are NVML's.
UNSTARVE_NVML Return nvmlDeviceGetSamples(DeviceHandle handle, std::uint32_t type,
                                          std::uint64_t after_us, std::uint32_t* value_type,
                                          std::uint32_t* count, nvml::Sample* samples) noexcept {
  return with_session([&](Session& ours) {
    EmulatedDevice* device = ours.devices.follow(handle);
    if (device == nullptr || value_type == nullptr || count == nullptr) {
      return Return::kInvalidArgument;
    }
    if (type != nvml::kGpuUtilizationSamples) return Return::kNotSupported;
    *value_type = static_cast<std::uint32_t>(nvml::ValueType::kUnsignedInt);
    std::uint32_t found = 0;
    for (const ActivityHistory::Window& window : device->history.windows()) {
      const std::uint64_t time_us = to_wall_us(ours, window.end_ns);
      // The two clocks are compared anew in each call; the tolerance keeps one window from coming
      // twice.
      if (time_us <= after_us + 1000) continue;
      if (samples != nullptr && found < *count) {
        samples[found].time_us = time_us;
        samples[found].value.bits = to_percent(window.utilization_ratio);
      }
      ++found;
    }
    *count = samples == nullptr ? found : std::min(found, *count);
    return found == 0 ? Return::kNotFound : Return::kSuccess;
  });
}
