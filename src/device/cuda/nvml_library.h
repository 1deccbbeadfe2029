#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_handle.h"
#include "device/cuda/nvml_abi.h"

namespace unstarve::device {

/// What NVML answered: a value, or its return code.
template <class T>
using NvmlResult = tl::expected<T, nvml::Return>;

/// Every symbol of NVML that is used, looked up once. Where a function has several versions the
/// newest that the library has is taken, with the structure that belongs to it. One that it does
/// not have answers kFunctionNotFound.
///
///   auto nvml = NvmlLibrary::open("libnvidia-ml.so.1");
///   auto device = nvml->device(0);
///   auto power = nvml->power_mw(*device);
///
/// Thread rule: any thread, as NVML. Lifetime: initialised from open() until destroyed.
class NvmlLibrary {
 public:
  /// Finds a symbol by name, or nullptr.
  using Lookup = std::function<void*(const char*)>;

  struct MemoryInfo {
    std::uint64_t total_bytes = 0;
    std::uint64_t used_bytes = 0;
  };
  struct Process {
    std::uint32_t pid = 0;
    std::uint64_t used_memory_bytes = 0;  // kValueNotAvailable when the driver cannot say
  };

  /// dlopen()s `path` and initialises it.
  static Result<NvmlLibrary> open(const std::string& path);
  /// The same with symbols from anywhere; `name` is for messages. For open() and for tests.
  static Result<NvmlLibrary> load(const Lookup& lookup, std::string name);

  NvmlLibrary(NvmlLibrary&& other) noexcept;
  NvmlLibrary& operator=(NvmlLibrary&&) = delete;
  ~NvmlLibrary();

  const std::string& name() const { return name_; }

  /// "580.65.06".
  NvmlResult<std::string> driver_version() const;
  NvmlResult<std::uint32_t> device_count() const;
  NvmlResult<nvml::DeviceHandle> device(std::uint32_t index) const;
  NvmlResult<std::string> device_name(nvml::DeviceHandle device) const;
  NvmlResult<std::string> uuid(nvml::DeviceHandle device) const;
  NvmlResult<MemoryInfo> memory(nvml::DeviceHandle device) const;
  NvmlResult<nvml::Utilization> utilization(nvml::DeviceHandle device) const;
  NvmlResult<std::uint32_t> power_mw(nvml::DeviceHandle device) const;
  /// What the board may draw, by all that limits it.
  NvmlResult<std::uint32_t> power_limit_mw(nvml::DeviceHandle device) const;
  NvmlResult<std::uint64_t> energy_mj(nvml::DeviceHandle device) const;
  NvmlResult<std::int32_t> temperature_c(nvml::DeviceHandle device) const;
  NvmlResult<std::uint32_t> clock_mhz(nvml::DeviceHandle device, std::uint32_t which) const;
  NvmlResult<std::uint64_t> clocks_event_reasons(nvml::DeviceHandle device) const;
  /// Fills in `status` and `value` of each field.
  NvmlResult<bool> fields(nvml::DeviceHandle device, std::vector<nvml::FieldValue>& fields) const;
  NvmlResult<std::vector<Process>> compute_processes(nvml::DeviceHandle device) const;
  /// The driver's utilisation samples later than `after_us`; none yet is an empty list.
  NvmlResult<std::vector<nvml::Sample>> utilization_samples(nvml::DeviceHandle device,
                                                            std::uint64_t after_us) const;

  /// Whether two GPUs reach each other's memory over NVLink.
  NvmlResult<bool> joined_by_nvlink(nvml::DeviceHandle device, nvml::DeviceHandle other) const;
  NvmlResult<nvml::Ancestor> common_ancestor(nvml::DeviceHandle device,
                                             nvml::DeviceHandle other) const;
  /// Whether a GPU's NVLink of this number is up; kInvalidArgument past the last one.
  NvmlResult<bool> nvlink_is_up(nvml::DeviceHandle device, std::uint32_t link) const;

  /// Bits of the events that can be waited for: kEventXid among them.
  NvmlResult<std::uint64_t> supported_events(nvml::DeviceHandle device) const;
  NvmlResult<nvml::EventSet> event_set() const;
  void free_event_set(nvml::EventSet set) const;
  NvmlResult<bool> register_events(nvml::DeviceHandle device, std::uint64_t types,
                                   nvml::EventSet set) const;
  /// One that has arrived. Never waits: kTimeout where there is none.
  NvmlResult<nvml::EventData> next_event(nvml::EventSet set) const;

  /// Whether the GPU is split into MIG instances now.
  NvmlResult<bool> mig_mode(nvml::DeviceHandle device) const;
  /// How many there may be; their indices have gaps.
  NvmlResult<std::uint32_t> mig_count_max(nvml::DeviceHandle device) const;
  NvmlResult<nvml::DeviceHandle> mig_instance(nvml::DeviceHandle device, std::uint32_t index) const;
  /// Of an instance's handle alone.
  NvmlResult<nvml::DeviceAttributes> attributes(nvml::DeviceHandle instance) const;
  NvmlResult<std::uint32_t> gpu_instance_id(nvml::DeviceHandle instance) const;
  NvmlResult<std::uint32_t> compute_instance_id(nvml::DeviceHandle instance) const;

  NvmlResult<bool> gpm_supported(nvml::DeviceHandle device) const;
  NvmlResult<nvml::GpmSample> gpm_allocate() const;
  void gpm_free(nvml::GpmSample sample) const;
  NvmlResult<bool> gpm_sample(nvml::DeviceHandle device, nvml::GpmSample sample) const;
  /// The same of one GPU instance of a GPU in MIG mode.
  NvmlResult<bool> gpm_sample_of(nvml::DeviceHandle device, std::uint32_t gpu_instance,
                                 nvml::GpmSample sample) const;
  NvmlResult<bool> gpm_metrics(nvml::GpmMetrics& metrics) const;

 private:
  struct Functions;
  NvmlLibrary(std::unique_ptr<Functions> functions, std::string name);

  SharedLibrary library_;  // closed last, after nvmlShutdown
  std::unique_ptr<Functions> functions_;
  std::string name_;
};

/// The return code in words, for messages.
const char* to_string(nvml::Return code);

}  // namespace unstarve::device
