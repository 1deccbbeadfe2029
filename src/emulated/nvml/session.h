#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "emulated/board/device_watch.h"
#include "emulated/nvml/event_set.h"
#include "emulated/nvml/instance.h"
#include "emulated/nvml/nvml_more_abi.h"
#include "emulated/process/settings.h"
#include "emulated/process/shared_state.h"

namespace unstarve::emulated {

namespace nvml = device::nvml;

/// A process that uses a GPU.
struct GpuUser {
  std::int32_t pid = 0;
  std::uint64_t memory_bytes = 0;
};

/// One GPU of the machine as NVML's clients hold it: its address is the nvmlDevice_t.
class NvmlDevice {
 public:
  /// `slices`: of each instance that it is split into; none: it is whole.
  NvmlDevice(const Settings& settings, int index, const std::vector<int>& slices);

  int index() const { return index_; }
  const Profile& profile() const { return settings_.profile; }
  std::string uuid() const { return uuid_text(index_); }
  int pci_bus() const { return index_ + 1; }

  /// Brought up to now.
  const BoardHistory& history();
  const BoardHistory::Window& latest() { return history().latest(); }
  /// That are alive; whether or not they run anything.
  std::vector<GpuUser> users();
  std::uint64_t memory_used();
  /// Of MIG; their addresses are nvmlDevice_t as well.
  std::vector<NvmlInstance>& instances() { return instances_; }

 private:
  const Settings& settings_;
  const int index_;
  DeviceWatch watch_;
  std::vector<NvmlInstance> instances_;
  const SharedGpu* shared_ = nullptr;  // mapped for ever; nullptr: no process has used it yet
};

/// What nvmlInit makes and nvmlShutdown drops.
class NvmlSession {
 public:
  explicit NvmlSession(Settings settings);
  NvmlDevice* at(std::uint32_t index);
  /// `handle` if it is a device of ours; nullptr otherwise.
  NvmlDevice* find(const void* handle);
  /// The GPU that the instance is of, and the instance, if `handle` is one.
  std::pair<NvmlDevice*, const NvmlInstance*> find_instance(const void* handle);
  std::vector<std::unique_ptr<NvmlDevice>>& devices() { return devices_; }

  /// Whether somebody makes errors for the GPUs to report.
  bool reports_errors() const { return !errors_file_.empty(); }
  NvmlEventSet* make_event_set();
  /// nullptr: it is none of ours.
  NvmlEventSet* find_event_set(const void* set);
  bool free_event_set(const void* set);

 private:
  const Settings settings_;
  std::string errors_file_;
  std::vector<std::unique_ptr<NvmlEventSet>> event_sets_;
  std::vector<std::unique_ptr<NvmlDevice>> devices_;
};

/// NVML's interface has no place for a context: the library's one global, and its lock.
struct NvmlState {
  Mutex mutex;
  std::unique_ptr<NvmlSession> session UNSTARVE_GUARDED_BY(mutex);
  int users UNSTARVE_GUARDED_BY(mutex) = 0;
};
NvmlState& nvml_state();

/// Calls `body` with the session, and turns every failure into a return code.
template <class Body>
nvml::Return with_session(Body body) noexcept {
  try {
    NvmlState& state = nvml_state();
    MutexLock lock(state.mutex);
    if (state.session == nullptr) return nvml::Return::kUninitialized;
    return body(*state.session);
  } catch (...) {
    return nvml::Return::kUnknown;
  }
}

/// Calls `body` with the device that `handle` is.
template <class Body>
nvml::Return with_device(const void* handle, Body body) noexcept {
  return with_session([&](NvmlSession& session) {
    NvmlDevice* const device = session.find(handle);
    return device == nullptr ? nvml::Return::kInvalidArgument : body(*device);
  });
}

/// The same for a function that answers for instances of a GPU, too: `body` gets the GPU, and the
/// instance or nullptr.
template <class Body>
nvml::Return with_part(const void* handle, Body body) noexcept {
  return with_session([&](NvmlSession& session) {
    if (NvmlDevice* const device = session.find(handle)) return body(*device, nullptr);
    const auto [device, instance] = session.find_instance(handle);
    return instance == nullptr ? nvml::Return::kInvalidArgument : body(*device, instance);
  });
}

/// The same for a function that gives back one value.
template <class Value, class Read>
nvml::Return read_value(const void* handle, Value* out, Read read) noexcept {
  return with_device(handle, [&](NvmlDevice& device) {
    if (out == nullptr) return nvml::Return::kInvalidArgument;
    *out = static_cast<Value>(read(device));
    return nvml::Return::kSuccess;
  });
}

nvml::Return copy_text(const std::string& text, char* out, std::uint32_t size);
std::uint32_t to_percent(double ratio);
std::uint32_t to_milliwatts(double watts);
/// CLOCK_MONOTONIC to us since 1970, which is how NVML stamps samples.
std::uint64_t to_wall_us(std::int64_t ns);

}  // namespace unstarve::emulated

#define UNSTARVE_NVML \
  extern "C" __attribute__((visibility("default"))) ::unstarve::device::nvml::Return
