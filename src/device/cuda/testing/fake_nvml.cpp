// Not a test but what the tests of this folder share.
#include "device/cuda/testing/fake_nvml.h"

#include <cstring>

#include "device/cuda/nvml_abi.h"

namespace unstarve::device::test {

namespace {

using nvml::Return;
using Handle = nvml::DeviceHandle;

FakeNvml* current = nullptr;

Handle to_handle(std::uint32_t index) { return &current->devices[index]; }
/// Which MIG instance a handle is; -1: a whole GPU.
int to_part(Handle device) {
  for (int i = 0; i < 8; ++i) {
    if (device == &current->parts[i]) return i;
  }
  return -1;
}
Return answer(const char* name, Handle device = nullptr) {
  ++current->calls[name];
  if (const auto found = current->failing.find(name); found != current->failing.end()) {
    return found->second;
  }
  const auto found = current->failing_on_1.find(name);
  const bool fails = device == to_handle(1) && found != current->failing_on_1.end();
  return fails ? found->second : Return::kSuccess;
}

Return init() { return answer("nvmlInit_v2"); }
Return shutdown() { return answer("nvmlShutdown"); }
Return count(std::uint32_t* out) {
  *out = 2;
  return answer("nvmlDeviceGetCount_v2");
}
Return handle(std::uint32_t index, Handle* out) {
  *out = to_handle(index);
  return answer("nvmlDeviceGetHandleByIndex_v2", *out);
}
Return name(Handle device, char* out, std::uint32_t size) {
  std::strncpy(out, to_part(device) < 0 ? "NVIDIA Test GPU" : "NVIDIA Test GPU MIG 1g.5gb", size);
  return answer("nvmlDeviceGetName", device);
}
Return uuid(Handle device, char* out, std::uint32_t size) {
  const int part = to_part(device);
  const std::string text = part >= 0 ? current->instances[static_cast<std::size_t>(part)]
                           : device == to_handle(0) ? "GPU-0"
                                                    : "GPU-1";
  std::strncpy(out, text.c_str(), size);
  return answer("nvmlDeviceGetUUID", device);
}
Return memory_v2(Handle device, nvml::MemoryV2* out) {
  if (out->version != nvml::kMemoryV2Version) return Return::kArgumentVersionMismatch;
  const bool whole = to_part(device) < 0;
  out->total = whole ? 1000 : 140;
  out->used = whole ? 300 : 60;
  out->reserved = 50;
  return answer("nvmlDeviceGetMemoryInfo_v2", device);
}
Return memory_v1(Handle device, nvml::MemoryV1* out) {
  out->total = 1000;
  out->used = 350;
  return answer("nvmlDeviceGetMemoryInfo", device);
}
Return utilization(Handle device, nvml::Utilization* out) {
  if (device == to_handle(0) && !current->instances.empty()) return Return::kNotSupported;
  *out = {73, 21};
  return answer("nvmlDeviceGetUtilizationRates", device);
}
Return power(Handle device, std::uint32_t* out) {
  *out = 250'500;
  return answer("nvmlDeviceGetPowerUsage", device);
}
Return energy(Handle device, std::uint64_t* out) {
  *out = current->energy_mj;
  return answer("nvmlDeviceGetTotalEnergyConsumption", device);
}
Return temperature(Handle device, std::uint32_t, std::uint32_t* out) {
  *out = 61;
  return answer("nvmlDeviceGetTemperature", device);
}
Return temperature_v(Handle device, nvml::TemperatureV1* out) {
  if (out->version != nvml::kTemperatureV1Version) return Return::kArgumentVersionMismatch;
  out->celsius = 62;
  return answer("nvmlDeviceGetTemperatureV", device);
}
Return clock(Handle device, std::uint32_t which, std::uint32_t* out) {
  *out = which == nvml::kClockSm ? 1400 : 1600;
  return answer("nvmlDeviceGetClockInfo", device);
}
Return reasons(Handle device, std::uint64_t* out) {
  *out = 0x4;
  return answer("nvmlDeviceGetCurrentClocksEventReasons", device);
}
Return throttle(Handle device, std::uint64_t* out) {
  *out = 0x8;
  return answer("nvmlDeviceGetCurrentClocksThrottleReasons", device);
}
Return fields(Handle device, std::int32_t count, nvml::FieldValue* out) {
  for (std::int32_t i = 0; i < count; ++i) {
    out[i].status = answer("field", device);
    out[i].type = nvml::ValueType::kUnsignedLongLong;
    out[i].value.bits = 1000 + out[i].field;
  }
  return answer("nvmlDeviceGetFieldValues", device);
}
template <class Info>
Return processes(const char* which, Handle device, std::uint32_t* count, Info* out) {
  constexpr std::uint32_t kThere = 40;  // more than the first guess of any caller
  const Return code = answer(which, device);
  if (code != Return::kSuccess) return code;
  const std::uint32_t room = *count;
  *count = kThere;
  if (room < kThere) return Return::kInsufficientSize;
  for (std::uint32_t i = 0; i < kThere; ++i) {
    out[i] = Info{};
    out[i].pid = 100 + i;
    out[i].used_memory = i == 0 ? nvml::kValueNotAvailable : 7;
  }
  return Return::kSuccess;
}
Return processes_v3(Handle device, std::uint32_t* count, nvml::ProcessInfoV2* out) {
  return processes("nvmlDeviceGetComputeRunningProcesses_v3", device, count, out);
}
Return processes_v1(Handle device, std::uint32_t* count, nvml::ProcessInfoV1* out) {
  return processes("nvmlDeviceGetComputeRunningProcesses", device, count, out);
}
Return samples(Handle device, std::uint32_t, std::uint64_t after, std::uint32_t* type,
               std::uint32_t* count, nvml::Sample* out) {
  *type = 1;
  const Return code = answer("nvmlDeviceGetSamples", device);
  if (code != Return::kSuccess) return code;
  if (after >= 2000) return Return::kNotFound;
  *count = 2;
  if (out != nullptr) {
    out[0] = {1000, {10}};
    out[1] = {2000, {90}};
  }
  return Return::kSuccess;
}
Return gpm_support(Handle device, nvml::GpmSupport* out) {
  out->supported = 1;
  return answer("nvmlGpmQueryDeviceSupport", device);
}
Return gpm_allocate(nvml::GpmSample* out) {
  *out = current;
  return answer("nvmlGpmSampleAlloc");
}
Return gpm_free(nvml::GpmSample) { return answer("nvmlGpmSampleFree"); }
Return gpm_sample_of(Handle, std::uint32_t gpu_instance, nvml::GpmSample) {
  current->instances_sampled.push_back(std::to_string(gpu_instance));
  return answer("nvmlGpmMigSampleGet");
}
Return gpm_sample(Handle device, nvml::GpmSample) { return answer("nvmlGpmSampleGet", device); }
Return gpm_metrics(nvml::GpmMetrics* out) {
  for (std::uint32_t i = 0; i < out->count; ++i) {
    const bool tensor = out->metrics[i].id == nvml::kGpmTensorActivity;
    out->metrics[i].status = tensor ? Return::kNotSupported : Return::kSuccess;
    out->metrics[i].value = 40;
  }
  return answer("nvmlGpmMetricsGet");
}

Return event_types(Handle device, std::uint64_t* out) {
  *out = 0x1 | nvml::kEventXid;
  return answer("nvmlDeviceGetSupportedEventTypes", device);
}
Return event_set(nvml::EventSet* out) {
  *out = current;
  return answer("nvmlEventSetCreate");
}
Return event_set_free(nvml::EventSet) { return answer("nvmlEventSetFree"); }
Return event_register(Handle device, std::uint64_t types, nvml::EventSet) {
  if (types != nvml::kEventXid) return Return::kInvalidArgument;
  return answer("nvmlDeviceRegisterEvents", device);
}
Return event_wait(nvml::EventSet, nvml::EventData* out, std::uint32_t timeout_ms) {
  const Return code = answer("nvmlEventSetWait_v2");
  if (code != Return::kSuccess) return code;
  if (timeout_ms != 0 || current->events.empty()) return Return::kTimeout;
  *out = current->events.front();
  current->events.pop_front();
  return Return::kSuccess;
}
Return p2p_status(Handle device, Handle, std::uint32_t capability, std::uint32_t* out) {
  constexpr std::uint32_t kNvlink = 2;        // NVML_P2P_CAPS_INDEX_NVLINK
  constexpr std::uint32_t kNotSupported = 5;  // NVML_P2P_STATUS_NOT_SUPPORTED
  *out = capability == kNvlink && current->nvlinks > 0 ? 0 : kNotSupported;
  return answer("nvmlDeviceGetP2PStatus", device);
}
Return common_ancestor(Handle device, Handle, nvml::Ancestor* out) {
  *out = current->ancestor;
  return answer("nvmlDeviceGetTopologyCommonAncestor", device);
}
Return nvlink_state(Handle device, std::uint32_t link, std::uint32_t* out) {
  if (link > current->nvlinks) return Return::kInvalidArgument;
  *out = link < current->nvlinks ? 1 : 0;
  return answer("nvmlDeviceGetNvLinkState", device);
}
Return mig_mode(Handle device, std::uint32_t* now, std::uint32_t* pending) {
  const bool on = device == to_handle(0) && !current->instances.empty();
  *now = *pending = on ? nvml::kMigEnabled : 0;
  return answer("nvmlDeviceGetMigMode", device);
}
Return mig_count(Handle device, std::uint32_t* out) {
  *out = 7;
  return answer("nvmlDeviceGetMaxMigDeviceCount", device);
}
Return mig_handle(Handle device, std::uint32_t index, Handle* out) {
  const Return code = answer("nvmlDeviceGetMigDeviceHandleByIndex", device);
  if (code != Return::kSuccess) return code;
  if (index >= current->instances.size() || current->instances[index].empty()) {
    return Return::kNotFound;
  }
  *out = &current->parts[index];
  return Return::kSuccess;
}
Return attributes(Handle device, nvml::DeviceAttributes* out) {
  if (to_part(device) < 0) return Return::kInvalidArgument;
  out->gpu_slices = out->compute_slices = 1;
  out->memory_mib = 4864;
  return answer("nvmlDeviceGetAttributes_v2");
}
Return gpu_instance(Handle device, std::uint32_t* out) {
  if (to_part(device) < 0) return Return::kInvalidArgument;
  *out = static_cast<std::uint32_t>(7 + to_part(device));
  return answer("nvmlDeviceGetGpuInstanceId");
}
Return compute_instance(Handle device, std::uint32_t* out) {
  if (to_part(device) < 0) return Return::kInvalidArgument;
  *out = 0;
  return answer("nvmlDeviceGetComputeInstanceId");
}

template <class Function>
void* erase(Function function) {
  return reinterpret_cast<void*>(function);
}
const std::map<std::string, void*>& table() {
  static const std::map<std::string, void*> symbols = {
      {"nvmlInit_v2", erase(init)},
      {"nvmlInit", erase(init)},
      {"nvmlShutdown", erase(shutdown)},
      {"nvmlDeviceGetCount_v2", erase(count)},
      {"nvmlDeviceGetCount", erase(count)},
      {"nvmlDeviceGetHandleByIndex_v2", erase(handle)},
      {"nvmlDeviceGetHandleByIndex", erase(handle)},
      {"nvmlDeviceGetName", erase(name)},
      {"nvmlDeviceGetUUID", erase(uuid)},
      {"nvmlDeviceGetMemoryInfo_v2", erase(memory_v2)},
      {"nvmlDeviceGetMemoryInfo", erase(memory_v1)},
      {"nvmlDeviceGetUtilizationRates", erase(utilization)},
      {"nvmlDeviceGetPowerUsage", erase(power)},
      {"nvmlDeviceGetTotalEnergyConsumption", erase(energy)},
      {"nvmlDeviceGetTemperature", erase(temperature)},
      {"nvmlDeviceGetTemperatureV", erase(temperature_v)},
      {"nvmlDeviceGetClockInfo", erase(clock)},
      {"nvmlDeviceGetCurrentClocksEventReasons", erase(reasons)},
      {"nvmlDeviceGetCurrentClocksThrottleReasons", erase(throttle)},
      {"nvmlDeviceGetFieldValues", erase(fields)},
      {"nvmlDeviceGetComputeRunningProcesses_v3", erase(processes_v3)},
      {"nvmlDeviceGetComputeRunningProcesses_v2", erase(processes_v3)},
      {"nvmlDeviceGetComputeRunningProcesses", erase(processes_v1)},
      {"nvmlDeviceGetSamples", erase(samples)},
      {"nvmlGpmQueryDeviceSupport", erase(gpm_support)},
      {"nvmlGpmSampleAlloc", erase(gpm_allocate)},
      {"nvmlGpmSampleFree", erase(gpm_free)},
      {"nvmlGpmSampleGet", erase(gpm_sample)},
      {"nvmlGpmMigSampleGet", erase(gpm_sample_of)},
      {"nvmlGpmMetricsGet", erase(gpm_metrics)},
      {"nvmlDeviceGetSupportedEventTypes", erase(event_types)},
      {"nvmlEventSetCreate", erase(event_set)},
      {"nvmlEventSetFree", erase(event_set_free)},
      {"nvmlDeviceRegisterEvents", erase(event_register)},
      {"nvmlEventSetWait_v2", erase(event_wait)},
      {"nvmlDeviceGetP2PStatus", erase(p2p_status)},
      {"nvmlDeviceGetTopologyCommonAncestor", erase(common_ancestor)},
      {"nvmlDeviceGetNvLinkState", erase(nvlink_state)},
      {"nvmlDeviceGetMigMode", erase(mig_mode)},
      {"nvmlDeviceGetMaxMigDeviceCount", erase(mig_count)},
      {"nvmlDeviceGetMigDeviceHandleByIndex", erase(mig_handle)},
      {"nvmlDeviceGetAttributes_v2", erase(attributes)},
      {"nvmlDeviceGetGpuInstanceId", erase(gpu_instance)},
      {"nvmlDeviceGetComputeInstanceId", erase(compute_instance)},
  };
  return symbols;
}

}  // namespace

FakeNvml::FakeNvml() { current = this; }
FakeNvml::~FakeNvml() { current = nullptr; }

NvmlLibrary::Lookup FakeNvml::lookup() {
  return [this](const char* name) -> void* {
    const auto found = table().find(name);
    return found == table().end() || missing.count(name) != 0 ? nullptr : found->second;
  };
}

}  // namespace unstarve::device::test
