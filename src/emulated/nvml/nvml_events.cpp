// NVML's functions by which a program is told of errors. There are some only where a file of them
// is named (event_set.h).
#include <algorithm>
#include <chrono>
#include <thread>

#include "emulated/nvml/session.h"

using namespace unstarve::emulated;

using nvml::Return;

UNSTARVE_NVML nvmlDeviceGetSupportedEventTypes(nvml::DeviceHandle handle, std::uint64_t* types) {
  return with_session([&](NvmlSession& session) {
    if (session.find(handle) == nullptr || types == nullptr) return Return::kInvalidArgument;
    *types = session.reports_errors() ? nvml::kEventXid : 0;
    return Return::kSuccess;
  });
}

UNSTARVE_NVML nvmlEventSetCreate(nvml::EventSet* set) {
  return with_session([&](NvmlSession& session) {
    if (set == nullptr) return Return::kInvalidArgument;
    *set = session.make_event_set();
    return Return::kSuccess;
  });
}

UNSTARVE_NVML nvmlDeviceRegisterEvents(nvml::DeviceHandle handle, std::uint64_t types,
                                       nvml::EventSet set) {
  return with_session([&](NvmlSession& session) {
    NvmlDevice* const device = session.find(handle);
    NvmlEventSet* const events = session.find_event_set(set);
    if (device == nullptr || events == nullptr) return Return::kInvalidArgument;
    const std::uint64_t supported = session.reports_errors() ? nvml::kEventXid : 0;
    if ((types & ~supported) != 0) return Return::kNotSupported;
    if (types != 0) events->add(device->index(), handle);
    return Return::kSuccess;
  });
}

UNSTARVE_NVML nvmlEventSetWait_v2(nvml::EventSet set, nvml::EventData* data,
                                  std::uint32_t timeout_ms) {
  using std::chrono::milliseconds;
  using Clock = std::chrono::steady_clock;
  // Nobody tells of lines that another process writes, so whoever waits looks for them.
  constexpr milliseconds kLookAgain{10};
  const Clock::time_point deadline = Clock::now() + milliseconds(timeout_ms);
  while (true) {
    const Return answer = with_session([&](NvmlSession& session) {
      NvmlEventSet* const events = session.find_event_set(set);
      if (events == nullptr || data == nullptr) return Return::kInvalidArgument;
      const std::optional<nvml::EventData> event = events->next();
      if (!event) return Return::kTimeout;
      *data = *event;
      return Return::kSuccess;
    });
    if (answer != Return::kTimeout || Clock::now() >= deadline) return answer;
    std::this_thread::sleep_for(std::min<Clock::duration>(kLookAgain, deadline - Clock::now()));
  }
}

UNSTARVE_NVML nvmlEventSetFree(nvml::EventSet set) {
  return with_session([&](NvmlSession& session) {
    return session.free_event_set(set) ? Return::kSuccess : Return::kInvalidArgument;
  });
}
