#include "device/cuda/nvml_monitor.h"

#include <algorithm>
#include <string_view>

#include "device/cuda/mig_instances.h"

namespace unstarve::device {

namespace {

using nvml::Return;

/// Whether asking again cannot help.
bool is_final(Return code) {
  return code == Return::kNotSupported || code == Return::kNoPermission ||
         code == Return::kFunctionNotFound || code == Return::kArgumentVersionMismatch ||
         code == Return::kDeprecated;
}

WhyAbsent to_why(Return code) {
  if (code == Return::kNoPermission) return WhyAbsent::kNoPermission;
  return is_final(code) ? WhyAbsent::kNotSupported : WhyAbsent::kNotObserved;
}

double percent_to_ratio(std::uint32_t percent) { return static_cast<double>(percent) / 100.0; }

Reading<std::uint64_t> to_counter(const nvml::FieldValue& field) {
  if (field.status != Return::kSuccess) return to_why(field.status);
  switch (field.type) {
    case nvml::ValueType::kUnsignedLong:
    case nvml::ValueType::kUnsignedLongLong:
    case nvml::ValueType::kSignedLongLong: return field.value.bits;
    case nvml::ValueType::kUnsignedInt:
    case nvml::ValueType::kSignedInt: return field.value.bits & 0xFFFF'FFFFULL;
    case nvml::ValueType::kDouble:
    case nvml::ValueType::kUnsignedShort: break;
  }
  return WhyAbsent::kNotSupported;
}

std::vector<GpuProcess> gpu_processes(const std::vector<NvmlLibrary::Process>& listed) {
  std::vector<GpuProcess> processes;
  for (const NvmlLibrary::Process& each : listed) {
    GpuProcess process{.pid = each.pid, .memory_used_bytes = WhyAbsent::kNotSupported};
    if (each.used_memory_bytes != nvml::kValueNotAvailable) {
      process.memory_used_bytes = static_cast<std::int64_t>(each.used_memory_bytes);
    }
    processes.push_back(process);
  }
  return processes;
}

}  // namespace

NvmlMonitor::NvmlMonitor(NvmlLibrary library, const Clock& clock,
                         std::optional<std::string> visible_devices)
    : library_(std::make_unique<NvmlLibrary>(std::move(library))),
      clock_(clock),
      visible_devices_(std::move(visible_devices)) {}

NvmlMonitor::~NvmlMonitor() = default;

template <class T>
WhyAbsent NvmlMonitor::absent(Device& device, Metric metric, const NvmlResult<T>& refused) {
  const WhyAbsent why = to_why(refused.error());
  if (is_final(refused.error())) device.latched[static_cast<std::size_t>(metric)] = why;
  return why;
}

template <class Ask, class Convert>
auto NvmlMonitor::ask(Device& device, Metric metric, Ask ask, Convert convert)
    -> Reading<decltype(convert(*ask()))> {
  if (const auto& latched = device.latched[static_cast<std::size_t>(metric)]; latched) {
    return *latched;
  }
  const auto answer = ask();
  if (!answer) return absent(device, metric, answer);
  return convert(*answer);
}

NvmlMonitor::Device NvmlMonitor::describe(std::int32_t index, nvml::DeviceHandle handle) const {
  constexpr std::string_view kEmulated = "Emulated";
  Device device;
  device.handle = handle;
  device.description.index = index;
  device.description.name = library_->device_name(handle).value_or("");
  device.description.uuid = library_->uuid(handle).value_or("");
  device.description.emulated = device.description.name.substr(0, kEmulated.size()) == kEmulated;
  find_instance(device);
  if (const auto memory = library_->memory(device.part); memory) {
    device.description.total_memory_bytes = static_cast<std::int64_t>(memory->total_bytes);
  } else {
    device.description.total_memory_bytes = to_why(memory.error());
  }
  std::optional<std::uint32_t> gpu_instance;
  if (const auto job = device.description.job_instance) {
    const Reading<std::int64_t>& id = device.description.instances[*job].gpu_instance;
    if (id) gpu_instance = static_cast<std::uint32_t>(*id);
  }
  device.gpm = std::make_unique<GpmReader>(*library_, handle, gpu_instance);
  device.errors = std::make_unique<ErrorEvents>(*library_, handle, gpu_instance);
  return device;
}

void NvmlMonitor::find_instance(Device& device) const {
  MigState mig = read_mig(*library_, device.handle);
  GpuDescription& description = device.description;
  description.mig_mode = mig.on;
  description.instances = std::move(mig.instances);
  description.job_instance = instance_of_job(description, visible_devices_);
  device.part = device.handle;
  if (!description.job_instance) return;
  device.part = mig.handles[*description.job_instance];
  const MigInstance& instance = description.instances[*description.job_instance];
  if (!instance.name.empty()) description.name = instance.name;
}

Result<std::vector<GpuDescription>> NvmlMonitor::enumerate() {
  const NvmlResult<std::uint32_t> count = library_->device_count();
  if (!count) {
    return fail(ErrorCode::kIo, "{} cannot count its devices: {}", library_->name(),
                to_string(count.error()));
  }
  std::vector<Device> found;
  for (std::uint32_t i = 0; i < *count; ++i) {
    const auto index = static_cast<std::int32_t>(i);
    const auto known = std::find_if(devices_.begin(), devices_.end(), [&](const Device& each) {
      return each.description.index == index;
    });
    const NvmlResult<nvml::DeviceHandle> handle = library_->device(i);
    if (!handle) {
      // Lost, or not ours to see. One that was there before stays, with its readings absent.
      if (known != devices_.end()) found.push_back(std::move(*known));
      continue;
    }
    // One that is lost may not say who it is, and what it reported last is still to be read.
    const NvmlResult<std::string> uuid = library_->uuid(*handle);
    const bool same = known != devices_.end() && known->handle == *handle &&
                      (!uuid || *uuid == known->description.uuid);
    found.push_back(same ? std::move(*known) : describe(index, *handle));
  }
  devices_ = std::move(found);
  std::vector<GpuDescription> descriptions;
  for (const Device& device : devices_) descriptions.push_back(device.description);
  return descriptions;
}

Result<NvmlMonitor::Device*> NvmlMonitor::find(std::int32_t index) {
  for (Device& device : devices_) {
    if (device.description.index == index) return &device;
  }
  return fail(ErrorCode::kNotFound, "there is no GPU {}; enumerate() listed {}", index,
              devices_.size());
}

Result<GpuReadings> NvmlMonitor::read(std::int32_t index) {
  const Result<Device*> found = find(index);
  if (!found) return forward_error(found);
  Device& device = **found;
  const NvmlLibrary& nvml = *library_;
  const nvml::DeviceHandle handle = device.handle;
  const auto identity = [](auto value) { return value; };
  const auto to_double = [](auto value) { return static_cast<double>(value); };
  const auto from_milli = [](auto value) { return 1e-3 * static_cast<double>(value); };

  GpuReadings readings;
  const auto utilization = ask(
      device, Metric::kUtilization, [&] { return nvml.utilization(handle); }, identity);
  if (utilization) {
    readings.utilization_ratio = percent_to_ratio((*utilization).gpu);
    readings.memory_controller_ratio = percent_to_ratio((*utilization).memory);
  } else {
    readings.utilization_ratio = utilization.why_absent();
    readings.memory_controller_ratio = utilization.why_absent();
  }
  readings.memory_used_bytes = ask(
      device, Metric::kMemory, [&] { return nvml.memory(device.part); },
      [](const auto& memory) { return static_cast<std::int64_t>(memory.used_bytes); });
  readings.power_w = ask(
      device, Metric::kPower, [&] { return nvml.power_mw(handle); }, from_milli);
  readings.energy_j = ask(
      device, Metric::kEnergy, [&] { return nvml.energy_mj(handle); }, from_milli);
  readings.temperature_c = ask(
      device, Metric::kTemperature, [&] { return nvml.temperature_c(handle); }, to_double);
  readings.sm_clock_mhz = ask(
      device, Metric::kSmClock, [&] { return nvml.clock_mhz(handle, nvml::kClockSm); }, to_double);
  readings.memory_clock_mhz = ask(
      device, Metric::kMemoryClock, [&] { return nvml.clock_mhz(handle, nvml::kClockMemory); },
      to_double);
  readings.throttle_reasons = ask(
      device, Metric::kThrottleReasons, [&] { return nvml.clocks_event_reasons(handle); },
      identity);
  readings.processes = ask(
      device, Metric::kProcesses, [&] { return nvml.compute_processes(device.part); },
      gpu_processes);
  read_pcie(device, readings);
  device.gpm->read(clock_, readings);
  device.errors->read(readings);
  return readings;
}

void NvmlMonitor::read_pcie(Device& device, GpuReadings& readings) {
  std::vector<nvml::FieldValue> fields(2);
  fields[0].field = nvml::kFieldPcieTxBytes;
  fields[1].field = nvml::kFieldPcieRxBytes;
  const auto read = ask(
      device, Metric::kPcie, [&] { return library_->fields(device.handle, fields); },
      [](bool done) { return done; });
  readings.pcie_tx_bytes = read ? to_counter(fields[0]) : read.why_absent();
  readings.pcie_rx_bytes = read ? to_counter(fields[1]) : read.why_absent();
  if (is_final(fields[0].status) && is_final(fields[1].status)) {
    device.latched[static_cast<std::size_t>(Metric::kPcie)] = to_why(fields[0].status);
  }
}

Result<std::vector<UtilizationSample>> NvmlMonitor::utilization_samples(std::int32_t index) {
  const Result<Device*> found = find(index);
  if (!found) return forward_error(found);
  Device& device = **found;
  std::vector<UtilizationSample> samples;
  const auto read = ask(
      device, Metric::kSamples,
      [&] { return library_->utilization_samples(device.handle, device.last_sample_us); },
      [](const auto& list) { return list; });
  if (!read) return samples;
  for (const nvml::Sample& sample : *read) {
    if (sample.time_us <= device.last_sample_us) continue;
    device.last_sample_us = sample.time_us;
    const auto percent = static_cast<std::uint32_t>(sample.value.bits & 0xFFFF'FFFFULL);
    samples.push_back({static_cast<std::int64_t>(sample.time_us), percent_to_ratio(percent)});
  }
  return samples;
}

}  // namespace unstarve::device
