// NVML's functions about the library, the driver, and which GPUs there are. No exception leaves
// them and nothing is printed: they are called from C, in somebody else's program.
#include <unistd.h>

#include <fstream>

#include "emulated/nvml/session.h"

using namespace unstarve::emulated;

using nvml::Return;

namespace {

// Of the CUDA version that the emulated driver reports.
constexpr std::int32_t kCudaVersion = 13020;
constexpr const char* kDriverVersion = "595.00";

Return init() noexcept {
  try {
    NvmlState& state = nvml_state();
    unstarve::MutexLock lock(state.mutex);
    if (state.session == nullptr) {
      unstarve::Result<Settings> settings = read_settings();
      if (!settings) return Return::kDriverNotLoaded;
      state.session = std::make_unique<NvmlSession>(std::move(*settings));
    }
    ++state.users;
    return Return::kSuccess;
  } catch (...) {
    return Return::kUnknown;
  }
}

Return give_handle(void* device, nvml::DeviceHandle* handle) {
  if (handle == nullptr) return Return::kInvalidArgument;
  if (device == nullptr) return Return::kNotFound;
  *handle = device;
  return Return::kSuccess;
}

/// The bus in "0000:01:00.0" or "00000000:01:00.0"; -1: none.
int bus_of(const char* text) {
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  unsigned function = 0;
  if (text == nullptr) return -1;
  if (std::sscanf(text, "%x:%x:%x.%x", &domain, &bus, &device, &function) < 3) return -1;
  return domain == 0 && device == 0 && bus < 256 ? static_cast<int>(bus) : -1;
}

}  // namespace

UNSTARVE_NVML nvmlInit_v2() { return init(); }
UNSTARVE_NVML nvmlInit() { return init(); }
UNSTARVE_NVML nvmlInitWithFlags(std::uint32_t /*flags*/) { return init(); }

UNSTARVE_NVML nvmlShutdown() {
  NvmlState& state = nvml_state();
  unstarve::MutexLock lock(state.mutex);
  if (state.session == nullptr) return Return::kUninitialized;
  if (--state.users == 0) state.session.reset();
  return Return::kSuccess;
}

extern "C" __attribute__((visibility("default"))) const char* nvmlErrorString(nvml::Return code) {
  switch (code) {
    case Return::kSuccess: return "Success";
    case Return::kUninitialized: return "Uninitialized";
    case Return::kInvalidArgument: return "Invalid argument";
    case Return::kNotSupported: return "Not supported by the emulated GPU";
    case Return::kNotFound: return "Not found";
    case Return::kInsufficientSize: return "Insufficient size";
    case Return::kDriverNotLoaded: return "No GPU is emulated: UNSTARVE_EMULATED_GPU is not set";
    case Return::kFunctionNotFound: return "Function not found";
    case Return::kArgumentVersionMismatch: return "A structure's version is not known";
    default: return "Unknown error";
  }
}

UNSTARVE_NVML nvmlSystemGetDriverVersion(char* version, std::uint32_t size) {
  return with_session([&](NvmlSession&) { return copy_text(kDriverVersion, version, size); });
}

UNSTARVE_NVML nvmlSystemGetNVMLVersion(char* version, std::uint32_t size) {
  return copy_text(std::string("13.") + kDriverVersion, version, size);
}

UNSTARVE_NVML nvmlSystemGetCudaDriverVersion_v2(std::int32_t* version) {
  if (version == nullptr) return Return::kInvalidArgument;
  *version = kCudaVersion;
  return Return::kSuccess;
}

UNSTARVE_NVML nvmlSystemGetCudaDriverVersion(std::int32_t* version) {
  return nvmlSystemGetCudaDriverVersion_v2(version);
}

UNSTARVE_NVML nvmlSystemGetProcessName(std::uint32_t pid, char* name, std::uint32_t size) {
  return with_session([&](NvmlSession&) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline");
    std::string text;
    if (!std::getline(file, text, '\0')) return Return::kNotFound;
    if (size == 0) return Return::kInsufficientSize;
    return copy_text(text.substr(0, size - 1), name, size);
  });
}

UNSTARVE_NVML nvmlUnitGetCount(std::uint32_t* count) {
  if (count == nullptr) return Return::kInvalidArgument;
  *count = 0;
  return Return::kSuccess;
}

UNSTARVE_NVML nvmlDeviceGetCount_v2(std::uint32_t* count) {
  return with_session([&](NvmlSession& session) {
    if (count == nullptr) return Return::kInvalidArgument;
    *count = static_cast<std::uint32_t>(session.devices().size());
    return Return::kSuccess;
  });
}

UNSTARVE_NVML nvmlDeviceGetCount(std::uint32_t* count) { return nvmlDeviceGetCount_v2(count); }

UNSTARVE_NVML nvmlDeviceGetHandleByIndex_v2(std::uint32_t index, nvml::DeviceHandle* handle) {
  return with_session([&](NvmlSession& session) {
    const Return given = give_handle(session.at(index), handle);
    return given == Return::kNotFound ? Return::kInvalidArgument : given;
  });
}

UNSTARVE_NVML nvmlDeviceGetHandleByIndex(std::uint32_t index, nvml::DeviceHandle* handle) {
  return nvmlDeviceGetHandleByIndex_v2(index, handle);
}

UNSTARVE_NVML nvmlDeviceGetHandleByUUID(const char* uuid, nvml::DeviceHandle* handle) {
  return with_session([&](NvmlSession& session) {
    if (uuid == nullptr) return Return::kInvalidArgument;
    for (const auto& device : session.devices()) {
      if (device->uuid() == uuid) return give_handle(device.get(), handle);
      for (NvmlInstance& instance : device->instances()) {
        if (instance.uuid() == uuid) return give_handle(&instance, handle);
      }
    }
    return give_handle(nullptr, handle);
  });
}

UNSTARVE_NVML nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, nvml::DeviceHandle* handle) {
  return with_session([&](NvmlSession& session) {
    const int bus = bus_of(bus_id);
    if (bus < 0) return Return::kInvalidArgument;
    return give_handle(bus == 0 ? nullptr : session.at(static_cast<std::uint32_t>(bus - 1)),
                       handle);
  });
}

UNSTARVE_NVML nvmlDeviceGetHandleByPciBusId(const char* bus_id, nvml::DeviceHandle* handle) {
  return nvmlDeviceGetHandleByPciBusId_v2(bus_id, handle);
}
