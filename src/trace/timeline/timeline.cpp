#include "trace/timeline/timeline.h"

#include <algorithm>
#include <array>
#include <limits>

namespace unstarve::trace {

namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

template <class T>
void sort_intervals(std::vector<T>& items) {
  std::stable_sort(items.begin(), items.end(),
                   [](const T& a, const T& b) { return a.when.start_ns < b.when.start_ns; });
}

template <class T>
void sort_starts(std::vector<T>& items) {
  std::stable_sort(items.begin(), items.end(),
                   [](const T& a, const T& b) { return a.start_ns < b.start_ns; });
}

}  // namespace

const TrainingDevice* Timeline::device_of(std::int64_t process) const {
  const auto found = std::find_if(training_devices.begin(), training_devices.end(),
                                  [process](const TrainingDevice& device) {
                                    return device.process == process || device.process == 0;
                                  });
  return found == training_devices.end() ? nullptr : &*found;
}

NameTable::NameTable(Timeline& timeline) : timeline_(timeline) {
  if (timeline_.names.empty()) timeline_.names.emplace_back();
  for (std::size_t i = 0; i < timeline_.names.size(); ++i) {
    ids_.emplace(timeline_.names[i], static_cast<NameId>(i));
  }
}

NameId NameTable::intern(std::string_view name) {
  const auto [entry, inserted] =
      ids_.try_emplace(std::string(name), static_cast<NameId>(timeline_.names.size()));
  if (inserted) timeline_.names.emplace_back(name);
  return entry->second;
}

std::int64_t correlation_of(std::int64_t process, std::uint32_t number) {
  constexpr std::int64_t kProcessMax = std::numeric_limits<std::int32_t>::max();
  const bool sane = process >= 0 && process <= kProcessMax;
  return (sane ? process << 32 : 0) | number;
}

std::int64_t process_of(std::int64_t correlation) {
  return correlation < 0 ? 0 : correlation >> 32;
}

void sort_by_start(Timeline& timeline) {
  sort_starts(timeline.device_ops);
  sort_starts(timeline.host_calls);
  sort_intervals(timeline.loader_waits);
  sort_intervals(timeline.steps);
  sort_intervals(timeline.fetches);
  sort_intervals(timeline.stages);
  sort_intervals(timeline.host_work);
  sort_intervals(timeline.windows);
  std::stable_sort(timeline.stack_samples.begin(), timeline.stack_samples.end(),
                   [](const StackSample& a, const StackSample& b) { return a.t_ns < b.t_ns; });
}

bool is_communication_kernel(std::string_view kernel_name) {
  // ncclKernel_AllReduce_..., ncclDevKernel_..., rcclGenericKernel, oneCCL, NVSHMEM.
  return contains(kernel_name, "nccl") || contains(kernel_name, "rccl") ||
         contains(kernel_name, "ccl_kernel") || contains(kernel_name, "nvshmem");
}

HostCallKind classify_host_call(std::string_view name) {
  // Synchronous copies wait for the device as much as an explicit synchronisation does; the
  // asynchronous ones have "Async" in their name.
  if (contains(name, "Synchronize")) return HostCallKind::kSync;
  const bool copies = contains(name, "Memcpy") || contains(name, "Memset");
  if (contains(name, "HostFunc")) return HostCallKind::kOther;  // runs on the host
  if (contains(name, "Launch") || (copies && contains(name, "Async"))) return HostCallKind::kLaunch;
  if (copies) return HostCallKind::kSync;
  constexpr std::array<std::string_view, 5> kAllocations = {"Malloc", "Free", "MemAlloc",
                                                            "HostAlloc", "HostRegister"};
  for (const std::string_view part : kAllocations) {
    if (contains(name, part)) return HostCallKind::kAllocation;
  }
  return HostCallKind::kOther;
}

}  // namespace unstarve::trace
