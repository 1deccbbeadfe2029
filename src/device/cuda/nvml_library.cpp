#include "device/cuda/nvml_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

namespace unstarve::device {

namespace {

using nvml::DeviceHandle;
using nvml::Return;

// More processes or samples than any device has; bounds what a broken driver can make us allocate.
constexpr std::uint32_t kListMax = 1 << 16;
constexpr std::uint32_t kP2pNvlink = 2;  // NVML_P2P_CAPS_INDEX_NVLINK
constexpr std::uint32_t kP2pOk = 0;      // NVML_P2P_STATUS_OK

tl::unexpected<Return> refuse(Return code) { return tl::unexpected<Return>(code); }

/// Sets `function` to the first of `names` that the library has.
template <class Function>
void find(const NvmlLibrary::Lookup& lookup, std::initializer_list<const char*> names,
          Function& function) {
  for (const char* name : names) {
    function = reinterpret_cast<Function>(lookup(name));
    if (function != nullptr) return;
  }
}

std::string to_text(const std::array<char, nvml::kNameBytes>& buffer) {
  const auto end = std::find(buffer.begin(), buffer.end(), '\0');
  return {buffer.begin(), end};
}

/// Calls a function that fills in one value after the device.
template <class T, class Function, class... Args>
NvmlResult<T> read_one(Function function, DeviceHandle device, Args... before) {
  if (function == nullptr) return refuse(Return::kFunctionNotFound);
  T value{};
  const Return code = function(device, before..., &value);
  if (code != Return::kSuccess) return refuse(code);
  return value;
}

template <class Function>
NvmlResult<std::string> read_text(Function function, DeviceHandle device) {
  if (function == nullptr) return refuse(Return::kFunctionNotFound);
  std::array<char, nvml::kNameBytes> buffer{};
  const Return code = function(device, buffer.data(), static_cast<std::uint32_t>(buffer.size()));
  if (code != Return::kSuccess) return refuse(code);
  return to_text(buffer);
}

/// The two-call protocol of NVML's lists: ask with room for a few, and again with what it wants.
template <class Info, class Function>
NvmlResult<std::vector<Info>> read_list(Function function, DeviceHandle device) {
  if (function == nullptr) return refuse(Return::kFunctionNotFound);
  std::uint32_t count = 32;
  for (int attempt = 0; attempt < 3; ++attempt) {
    std::vector<Info> infos(count);
    const Return code = function(device, &count, infos.data());
    if (code == Return::kSuccess) {
      infos.resize(std::min<std::size_t>(count, infos.size()));
      return infos;
    }
    if (code != Return::kInsufficientSize) return refuse(code);
    // Processes may start between the two calls.
    count = std::min(count + 16, kListMax);
  }
  return refuse(Return::kInsufficientSize);
}

template <class Info>
NvmlResult<std::vector<NvmlLibrary::Process>> to_processes(
    const NvmlResult<std::vector<Info>>& listed) {
  if (!listed) return refuse(listed.error());
  std::vector<NvmlLibrary::Process> processes;
  for (const Info& info : *listed) processes.push_back({info.pid, info.used_memory});
  return processes;
}

}  // namespace

struct NvmlLibrary::Functions {
  Return (*init)() = nullptr;
  Return (*shutdown)() = nullptr;
  Return (*driver)(char*, std::uint32_t) = nullptr;
  Return (*count)(std::uint32_t*) = nullptr;
  Return (*handle)(std::uint32_t, DeviceHandle*) = nullptr;
  Return (*name)(DeviceHandle, char*, std::uint32_t) = nullptr;
  Return (*uuid)(DeviceHandle, char*, std::uint32_t) = nullptr;
  Return (*memory_v2)(DeviceHandle, nvml::MemoryV2*) = nullptr;
  Return (*memory_v1)(DeviceHandle, nvml::MemoryV1*) = nullptr;
  Return (*utilization)(DeviceHandle, nvml::Utilization*) = nullptr;
  Return (*power)(DeviceHandle, std::uint32_t*) = nullptr;
  Return (*power_limit)(DeviceHandle, std::uint32_t*) = nullptr;
  Return (*energy)(DeviceHandle, std::uint64_t*) = nullptr;
  Return (*temperature)(DeviceHandle, std::uint32_t, std::uint32_t*) = nullptr;
  Return (*temperature_v)(DeviceHandle, nvml::TemperatureV1*) = nullptr;
  Return (*clock)(DeviceHandle, std::uint32_t, std::uint32_t*) = nullptr;
  Return (*event_reasons)(DeviceHandle, std::uint64_t*) = nullptr;
  Return (*fields)(DeviceHandle, std::int32_t, nvml::FieldValue*) = nullptr;
  Return (*processes_v2)(DeviceHandle, std::uint32_t*, nvml::ProcessInfoV2*) = nullptr;
  Return (*processes_v1)(DeviceHandle, std::uint32_t*, nvml::ProcessInfoV1*) = nullptr;
  Return (*samples)(DeviceHandle, std::uint32_t, std::uint64_t, std::uint32_t*, std::uint32_t*,
                    nvml::Sample*) = nullptr;
  Return (*event_types)(DeviceHandle, std::uint64_t*) = nullptr;
  Return (*event_set)(nvml::EventSet*) = nullptr;
  Return (*event_set_free)(nvml::EventSet) = nullptr;
  Return (*event_register)(DeviceHandle, std::uint64_t, nvml::EventSet) = nullptr;
  Return (*event_wait)(nvml::EventSet, nvml::EventData*, std::uint32_t) = nullptr;
  Return (*p2p_status)(DeviceHandle, DeviceHandle, std::uint32_t, std::uint32_t*) = nullptr;
  Return (*ancestor)(DeviceHandle, DeviceHandle, nvml::Ancestor*) = nullptr;
  Return (*nvlink_state)(DeviceHandle, std::uint32_t, std::uint32_t*) = nullptr;
  Return (*mig_mode)(DeviceHandle, std::uint32_t*, std::uint32_t*) = nullptr;
  Return (*mig_count)(DeviceHandle, std::uint32_t*) = nullptr;
  Return (*mig_handle)(DeviceHandle, std::uint32_t, DeviceHandle*) = nullptr;
  Return (*attributes)(DeviceHandle, nvml::DeviceAttributes*) = nullptr;
  Return (*gpu_instance)(DeviceHandle, std::uint32_t*) = nullptr;
  Return (*compute_instance)(DeviceHandle, std::uint32_t*) = nullptr;
  Return (*gpm_support)(DeviceHandle, nvml::GpmSupport*) = nullptr;
  Return (*gpm_allocate)(nvml::GpmSample*) = nullptr;
  Return (*gpm_free)(nvml::GpmSample) = nullptr;
  Return (*gpm_sample)(DeviceHandle, nvml::GpmSample) = nullptr;
  Return (*gpm_sample_of)(DeviceHandle, std::uint32_t, nvml::GpmSample) = nullptr;
  Return (*gpm_metrics)(nvml::GpmMetrics*) = nullptr;

  explicit Functions(const Lookup& lookup) {
    find(lookup, {"nvmlInit_v2", "nvmlInit"}, init);
    find(lookup, {"nvmlShutdown"}, shutdown);
    find(lookup, {"nvmlSystemGetDriverVersion"}, driver);
    find(lookup, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"}, count);
    find(lookup, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"}, handle);
    find(lookup, {"nvmlDeviceGetName"}, name);
    find(lookup, {"nvmlDeviceGetUUID"}, uuid);
    find(lookup, {"nvmlDeviceGetMemoryInfo_v2"}, memory_v2);
    find(lookup, {"nvmlDeviceGetMemoryInfo"}, memory_v1);
    find(lookup, {"nvmlDeviceGetUtilizationRates"}, utilization);
    find(lookup, {"nvmlDeviceGetPowerUsage"}, power);
    find(lookup, {"nvmlDeviceGetEnforcedPowerLimit"}, power_limit);
    find(lookup, {"nvmlDeviceGetTotalEnergyConsumption"}, energy);
    find(lookup, {"nvmlDeviceGetTemperature"}, temperature);
    find(lookup, {"nvmlDeviceGetTemperatureV"}, temperature_v);
    find(lookup, {"nvmlDeviceGetClockInfo"}, clock);
    find(lookup,
         {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"},
         event_reasons);
    find(lookup, {"nvmlDeviceGetFieldValues"}, fields);
    find(lookup,
         {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"},
         processes_v2);
    find(lookup, {"nvmlDeviceGetComputeRunningProcesses"}, processes_v1);
    find(lookup, {"nvmlDeviceGetSamples"}, samples);
    find_activity(lookup);
    find_events_links_and_instances(lookup);
  }

 private:
  void find_activity(const Lookup& lookup) {
    find(lookup, {"nvmlGpmQueryDeviceSupport"}, gpm_support);
    find(lookup, {"nvmlGpmSampleAlloc"}, gpm_allocate);
    find(lookup, {"nvmlGpmSampleFree"}, gpm_free);
    find(lookup, {"nvmlGpmSampleGet"}, gpm_sample);
    find(lookup, {"nvmlGpmMigSampleGet"}, gpm_sample_of);
    find(lookup, {"nvmlGpmMetricsGet"}, gpm_metrics);
  }

  void find_events_links_and_instances(const Lookup& lookup) {
    find(lookup, {"nvmlDeviceGetSupportedEventTypes"}, event_types);
    find(lookup, {"nvmlEventSetCreate"}, event_set);
    find(lookup, {"nvmlEventSetFree"}, event_set_free);
    find(lookup, {"nvmlDeviceRegisterEvents"}, event_register);
    find(lookup, {"nvmlEventSetWait_v2", "nvmlEventSetWait"}, event_wait);
    find(lookup, {"nvmlDeviceGetP2PStatus"}, p2p_status);
    find(lookup, {"nvmlDeviceGetTopologyCommonAncestor"}, ancestor);
    find(lookup, {"nvmlDeviceGetNvLinkState"}, nvlink_state);
    find(lookup, {"nvmlDeviceGetMigMode"}, mig_mode);
    find(lookup, {"nvmlDeviceGetMaxMigDeviceCount"}, mig_count);
    find(lookup, {"nvmlDeviceGetMigDeviceHandleByIndex"}, mig_handle);
    find(lookup, {"nvmlDeviceGetAttributes_v2"}, attributes);
    find(lookup, {"nvmlDeviceGetGpuInstanceId"}, gpu_instance);
    find(lookup, {"nvmlDeviceGetComputeInstanceId"}, compute_instance);
  }
};

NvmlLibrary::NvmlLibrary(std::unique_ptr<Functions> functions, std::string name)
    : functions_(std::move(functions)), name_(std::move(name)) {}

NvmlLibrary::NvmlLibrary(NvmlLibrary&& other) noexcept = default;

NvmlLibrary::~NvmlLibrary() {
  if (functions_ != nullptr && functions_->shutdown != nullptr) functions_->shutdown();
}

Result<NvmlLibrary> NvmlLibrary::open(const std::string& path) {
  // Never unloaded: what a driver's library registers for the end of the process must still be
  // there.
  SharedLibrary library(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE));
  if (!library) {
    const char* why = ::dlerror();
    return fail(ErrorCode::kNotFound, "cannot load NVML: {}", why != nullptr ? why : path);
  }
  void* handle = library.get();
  Result<NvmlLibrary> loaded =
      load([handle](const char* symbol) { return ::dlsym(handle, symbol); }, path);
  if (loaded) loaded->library_ = std::move(library);
  return loaded;
}

Result<NvmlLibrary> NvmlLibrary::load(const Lookup& lookup, std::string name) {
  auto functions = std::make_unique<Functions>(lookup);
  if (functions->init == nullptr || functions->count == nullptr || functions->handle == nullptr) {
    return fail(ErrorCode::kNotSupported,
                "{} is not NVML: it lacks nvmlInit, nvmlDeviceGetCount or "
                "nvmlDeviceGetHandleByIndex",
                name);
  }
  const Return code = functions->init();
  if (code != Return::kSuccess) {
    return fail(code == Return::kNoPermission ? ErrorCode::kNoPermission : ErrorCode::kNotSupported,
                "{} cannot be initialised: {} ({}); `nvidia-smi` should say the same", name,
                to_string(code), static_cast<int>(code));
  }
  return NvmlLibrary(std::move(functions), std::move(name));
}

NvmlResult<std::string> NvmlLibrary::driver_version() const {
  if (functions_->driver == nullptr) return refuse(Return::kFunctionNotFound);
  std::array<char, nvml::kNameBytes> buffer{};
  const Return code = functions_->driver(buffer.data(), static_cast<std::uint32_t>(buffer.size()));
  if (code != Return::kSuccess) return refuse(code);
  return to_text(buffer);
}

NvmlResult<std::uint32_t> NvmlLibrary::device_count() const {
  std::uint32_t count = 0;
  const Return code = functions_->count(&count);
  if (code != Return::kSuccess) return refuse(code);
  return count;
}

NvmlResult<DeviceHandle> NvmlLibrary::device(std::uint32_t index) const {
  DeviceHandle device = nullptr;
  const Return code = functions_->handle(index, &device);
  if (code != Return::kSuccess) return refuse(code);
  return device;
}

NvmlResult<std::string> NvmlLibrary::device_name(DeviceHandle device) const {
  return read_text(functions_->name, device);
}

NvmlResult<std::string> NvmlLibrary::uuid(DeviceHandle device) const {
  return read_text(functions_->uuid, device);
}

NvmlResult<NvmlLibrary::MemoryInfo> NvmlLibrary::memory(DeviceHandle device) const {
  if (functions_->memory_v2 != nullptr) {
    nvml::MemoryV2 info;
    info.version = nvml::kMemoryV2Version;
    const Return code = functions_->memory_v2(device, &info);
    if (code == Return::kSuccess) return MemoryInfo{info.total, info.used};
    if (code != Return::kFunctionNotFound && code != Return::kArgumentVersionMismatch) {
      return refuse(code);
    }
  }
  const auto info = read_one<nvml::MemoryV1>(functions_->memory_v1, device);
  if (!info) return refuse(info.error());
  return MemoryInfo{info->total, info->used};
}

NvmlResult<nvml::Utilization> NvmlLibrary::utilization(DeviceHandle device) const {
  return read_one<nvml::Utilization>(functions_->utilization, device);
}

NvmlResult<std::uint32_t> NvmlLibrary::power_mw(DeviceHandle device) const {
  return read_one<std::uint32_t>(functions_->power, device);
}

NvmlResult<std::uint32_t> NvmlLibrary::power_limit_mw(DeviceHandle device) const {
  return read_one<std::uint32_t>(functions_->power_limit, device);
}

NvmlResult<std::uint64_t> NvmlLibrary::energy_mj(DeviceHandle device) const {
  return read_one<std::uint64_t>(functions_->energy, device);
}

NvmlResult<std::int32_t> NvmlLibrary::temperature_c(DeviceHandle device) const {
  const auto plain =
      read_one<std::uint32_t>(functions_->temperature, device, nvml::kTemperatureGpu);
  if (plain) return static_cast<std::int32_t>(*plain);
  // CUDA 13 deprecates the plain call in favour of the versioned one.
  const bool gone =
      plain.error() == Return::kFunctionNotFound || plain.error() == Return::kDeprecated;
  if (!gone || functions_->temperature_v == nullptr) return refuse(plain.error());
  nvml::TemperatureV1 info;
  info.version = nvml::kTemperatureV1Version;
  const Return code = functions_->temperature_v(device, &info);
  if (code != Return::kSuccess) return refuse(code);
  return info.celsius;
}

NvmlResult<std::uint32_t> NvmlLibrary::clock_mhz(DeviceHandle device, std::uint32_t which) const {
  return read_one<std::uint32_t>(functions_->clock, device, which);
}

NvmlResult<std::uint64_t> NvmlLibrary::clocks_event_reasons(DeviceHandle device) const {
  return read_one<std::uint64_t>(functions_->event_reasons, device);
}

NvmlResult<bool> NvmlLibrary::fields(DeviceHandle device,
                                     std::vector<nvml::FieldValue>& fields) const {
  if (functions_->fields == nullptr) return refuse(Return::kFunctionNotFound);
  const Return code =
      functions_->fields(device, static_cast<std::int32_t>(fields.size()), fields.data());
  if (code != Return::kSuccess) return refuse(code);
  return true;
}

NvmlResult<std::vector<NvmlLibrary::Process>> NvmlLibrary::compute_processes(
    DeviceHandle device) const {
  if (functions_->processes_v2 != nullptr) {
    return to_processes(read_list<nvml::ProcessInfoV2>(functions_->processes_v2, device));
  }
  return to_processes(read_list<nvml::ProcessInfoV1>(functions_->processes_v1, device));
}

NvmlResult<std::vector<nvml::Sample>> NvmlLibrary::utilization_samples(
    DeviceHandle device, std::uint64_t after_us) const {
  if (functions_->samples == nullptr) return refuse(Return::kFunctionNotFound);
  std::uint32_t type = 0;
  std::uint32_t count = 0;
  Return code =
      functions_->samples(device, nvml::kGpuUtilizationSamples, after_us, &type, &count, nullptr);
  // No new sample is no error.
  if (code == Return::kNotFound) return std::vector<nvml::Sample>{};
  if (code != Return::kSuccess) return refuse(code);
  std::vector<nvml::Sample> samples(std::min(count, kListMax));
  if (samples.empty()) return samples;
  count = static_cast<std::uint32_t>(samples.size());
  code = functions_->samples(device, nvml::kGpuUtilizationSamples, after_us, &type, &count,
                             samples.data());
  if (code == Return::kNotFound) return std::vector<nvml::Sample>{};
  if (code != Return::kSuccess) return refuse(code);
  samples.resize(std::min<std::size_t>(count, samples.size()));
  return samples;
}

NvmlResult<bool> NvmlLibrary::joined_by_nvlink(DeviceHandle device, DeviceHandle other) const {
  if (functions_->p2p_status == nullptr) return refuse(Return::kFunctionNotFound);
  std::uint32_t status = 0;
  const Return code = functions_->p2p_status(device, other, kP2pNvlink, &status);
  if (code != Return::kSuccess) return refuse(code);
  return status == kP2pOk;
}

NvmlResult<nvml::Ancestor> NvmlLibrary::common_ancestor(DeviceHandle device,
                                                        DeviceHandle other) const {
  return read_one<nvml::Ancestor>(functions_->ancestor, device, other);
}

NvmlResult<bool> NvmlLibrary::nvlink_is_up(DeviceHandle device, std::uint32_t link) const {
  const auto state = read_one<std::uint32_t>(functions_->nvlink_state, device, link);
  if (!state) return refuse(state.error());
  return *state != 0;
}

NvmlResult<std::uint64_t> NvmlLibrary::supported_events(DeviceHandle device) const {
  return read_one<std::uint64_t>(functions_->event_types, device);
}

NvmlResult<nvml::EventSet> NvmlLibrary::event_set() const {
  // A set that cannot be registered with, read or freed again is none.
  if (functions_->event_set == nullptr || functions_->event_set_free == nullptr ||
      functions_->event_register == nullptr || functions_->event_wait == nullptr) {
    return refuse(Return::kFunctionNotFound);
  }
  nvml::EventSet set = nullptr;
  const Return code = functions_->event_set(&set);
  if (code != Return::kSuccess) return refuse(code);
  return set;
}

void NvmlLibrary::free_event_set(nvml::EventSet set) const { functions_->event_set_free(set); }

NvmlResult<bool> NvmlLibrary::register_events(DeviceHandle device, std::uint64_t types,
                                              nvml::EventSet set) const {
  const Return code = functions_->event_register(device, types, set);
  if (code != Return::kSuccess) return refuse(code);
  return true;
}

NvmlResult<nvml::EventData> NvmlLibrary::next_event(nvml::EventSet set) const {
  nvml::EventData event;
  const Return code = functions_->event_wait(set, &event, 0);
  if (code != Return::kSuccess) return refuse(code);
  return event;
}

NvmlResult<bool> NvmlLibrary::mig_mode(DeviceHandle device) const {
  if (functions_->mig_mode == nullptr) return refuse(Return::kFunctionNotFound);
  std::uint32_t current = 0;
  std::uint32_t pending = 0;
  const Return code = functions_->mig_mode(device, &current, &pending);
  if (code != Return::kSuccess) return refuse(code);
  return current == nvml::kMigEnabled;
}

NvmlResult<std::uint32_t> NvmlLibrary::mig_count_max(DeviceHandle device) const {
  return read_one<std::uint32_t>(functions_->mig_count, device);
}

NvmlResult<DeviceHandle> NvmlLibrary::mig_instance(DeviceHandle device, std::uint32_t index) const {
  return read_one<DeviceHandle>(functions_->mig_handle, device, index);
}

NvmlResult<nvml::DeviceAttributes> NvmlLibrary::attributes(DeviceHandle instance) const {
  return read_one<nvml::DeviceAttributes>(functions_->attributes, instance);
}

NvmlResult<std::uint32_t> NvmlLibrary::gpu_instance_id(DeviceHandle instance) const {
  return read_one<std::uint32_t>(functions_->gpu_instance, instance);
}

NvmlResult<std::uint32_t> NvmlLibrary::compute_instance_id(DeviceHandle instance) const {
  return read_one<std::uint32_t>(functions_->compute_instance, instance);
}

NvmlResult<bool> NvmlLibrary::gpm_supported(DeviceHandle device) const {
  if (functions_->gpm_support == nullptr || functions_->gpm_metrics == nullptr ||
      functions_->gpm_sample == nullptr || functions_->gpm_allocate == nullptr ||
      functions_->gpm_free == nullptr) {
    return refuse(Return::kFunctionNotFound);
  }
  nvml::GpmSupport support;
  const Return code = functions_->gpm_support(device, &support);
  if (code != Return::kSuccess) return refuse(code);
  return support.supported != 0;
}

NvmlResult<nvml::GpmSample> NvmlLibrary::gpm_allocate() const {
  nvml::GpmSample sample = nullptr;
  const Return code = functions_->gpm_allocate(&sample);
  if (code != Return::kSuccess) return refuse(code);
  return sample;
}

void NvmlLibrary::gpm_free(nvml::GpmSample sample) const { functions_->gpm_free(sample); }

NvmlResult<bool> NvmlLibrary::gpm_sample(DeviceHandle device, nvml::GpmSample sample) const {
  const Return code = functions_->gpm_sample(device, sample);
  if (code != Return::kSuccess) return refuse(code);
  return true;
}

NvmlResult<bool> NvmlLibrary::gpm_sample_of(DeviceHandle device, std::uint32_t gpu_instance,
                                            nvml::GpmSample sample) const {
  if (functions_->gpm_sample_of == nullptr) return refuse(Return::kFunctionNotFound);
  const Return code = functions_->gpm_sample_of(device, gpu_instance, sample);
  if (code != Return::kSuccess) return refuse(code);
  return true;
}

NvmlResult<bool> NvmlLibrary::gpm_metrics(nvml::GpmMetrics& metrics) const {
  const Return code = functions_->gpm_metrics(&metrics);
  if (code != Return::kSuccess) return refuse(code);
  return true;
}

const char* to_string(nvml::Return code) {
  switch (code) {
    case Return::kSuccess: return "success";
    case Return::kUninitialized: return "not initialised";
    case Return::kInvalidArgument: return "invalid argument";
    case Return::kNotSupported: return "not supported";
    case Return::kNoPermission: return "no permission";
    case Return::kNotFound: return "not found";
    case Return::kInsufficientSize: return "insufficient size";
    case Return::kDriverNotLoaded: return "the NVIDIA driver is not loaded";
    case Return::kTimeout: return "timeout";
    case Return::kLibraryNotFound: return "a library that NVML needs was not found";
    case Return::kFunctionNotFound: return "this NVML has no such function";
    case Return::kGpuIsLost: return "the GPU has fallen off the bus";
    case Return::kLibraryDriverMismatch: return "library and kernel driver differ in version";
    case Return::kNoData: return "no data";
    case Return::kArgumentVersionMismatch: return "structure version not known";
    case Return::kDeprecated: return "deprecated";
    case Return::kUnknown: break;
  }
  return "unknown error";
}

}  // namespace unstarve::device
