#include "device/cuda/error_events.h"

namespace unstarve::device {

namespace {

using nvml::Return;

// A GPU in trouble may report without end: what is left comes with the next read().
constexpr int kEventsAtOnce = 64;

std::optional<std::int64_t> to_instance(std::uint32_t id) {
  if (id == nvml::kNoInstance) return std::nullopt;
  return std::int64_t{id};
}

}  // namespace

ErrorEvents::ErrorEvents(const NvmlLibrary& library, nvml::DeviceHandle device,
                         std::optional<std::uint32_t> gpu_instance)
    : library_(library), device_(device), gpu_instance_(gpu_instance) {}

ErrorEvents::~ErrorEvents() {
  if (set_ != nullptr) library_.free_event_set(set_);
}

void ErrorEvents::give_up(Return code) {
  given_up_ = code == Return::kNoPermission ? WhyAbsent::kNoPermission : WhyAbsent::kNotSupported;
}

bool ErrorEvents::prepare() {
  if (registered_ || given_up_) return registered_;
  const NvmlResult<std::uint64_t> types = library_.supported_events(device_);
  // A GPU that is lost may come back; all else stays as it is.
  if (!types && types.error() == Return::kGpuIsLost) return false;
  if (!types || (*types & nvml::kEventXid) == 0) {
    give_up(types ? Return::kNotSupported : types.error());
    return false;
  }
  const NvmlResult<nvml::EventSet> set = library_.event_set();
  if (!set) {
    give_up(set.error());
    return false;
  }
  const NvmlResult<bool> registered = library_.register_events(device_, nvml::kEventXid, *set);
  if (!registered) {
    library_.free_event_set(*set);
    if (registered.error() != Return::kGpuIsLost) give_up(registered.error());
    return false;
  }
  set_ = *set;
  registered_ = true;
  return true;
}

void ErrorEvents::take(std::vector<GpuError>& errors) {
  for (int i = 0; i < kEventsAtOnce; ++i) {
    // None has arrived, or the GPU is lost, which its last error has told.
    const NvmlResult<nvml::EventData> event = library_.next_event(set_);
    if (!event) return;
    if ((event->type & nvml::kEventXid) == 0) continue;
    const bool of_one = event->gpu_instance != nvml::kNoInstance;
    if (of_one && gpu_instance_ && event->gpu_instance != *gpu_instance_) continue;
    const auto xid = static_cast<std::int64_t>(event->data);
    errors.push_back({xid, to_instance(event->gpu_instance), to_instance(event->compute_instance)});
    ++count_;
    last_ = xid;
  }
}

void ErrorEvents::read(GpuReadings& readings) {
  readings.new_errors.clear();
  if (prepare()) {
    take(readings.new_errors);
    readings.xid_errors = count_;
    readings.last_xid = last_;
    return;
  }
  readings.xid_errors = given_up_.value_or(WhyAbsent::kNotObserved);
  readings.last_xid = given_up_.value_or(WhyAbsent::kNotObserved);
}

}  // namespace unstarve::device
