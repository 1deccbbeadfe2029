#include "observe/outside/gpu_source.h"

#include <array>
#include <nlohmann/json.hpp>
#include <string>

namespace unstarve::observe {

namespace {

using device::GpuReadings;

template <class T>
Reading<double> as_double(const Reading<T>& reading) {
  if (!reading) return reading.why_absent();
  return static_cast<double>(*reading);
}

/// One metric of a GPU: how it is named and where it lies in the readings. Their units, sources
/// and errors are told at the fields of device::GpuReadings.
struct GpuMetric {
  MetricDescriptor metric;
  Reading<double> (*value)(const GpuReadings&);
};

constexpr std::array<GpuMetric, 14> kMetrics = {{
    {{"gpu.utilization_ratio", "ratio", "NVML utilization.gpu",
      "time with at least one kernel, over the driver's window"},
     [](const GpuReadings& r) { return r.utilization_ratio; }},
    {{"gpu.memory_controller_ratio", "ratio", "NVML utilization.memory",
      "time with traffic to device memory, over the driver's window"},
     [](const GpuReadings& r) { return r.memory_controller_ratio; }},
    {{"gpu.memory_used_bytes", "bytes", "NVML memory info", "device memory allocated by anybody"},
     [](const GpuReadings& r) { return as_double(r.memory_used_bytes); }},
    {{"gpu.power_w", "W", "NVML power usage", "power drawn by the board"},
     [](const GpuReadings& r) { return r.power_w; }},
    {{"gpu.energy_j", "J", "NVML total energy", "energy so far; differences are meaningful"},
     [](const GpuReadings& r) { return r.energy_j; }},
    {{"gpu.temperature_c", "C", "NVML temperature", "temperature of the die"},
     [](const GpuReadings& r) { return r.temperature_c; }},
    {{"gpu.sm_clock_mhz", "MHz", "NVML clock info", "clock of the multiprocessors"},
     [](const GpuReadings& r) { return r.sm_clock_mhz; }},
    {{"gpu.memory_clock_mhz", "MHz", "NVML clock info", "clock of the device memory"},
     [](const GpuReadings& r) { return r.memory_clock_mhz; }},
    {{"gpu.throttle_reasons", "bits", "NVML clocks event reasons",
      "why the clocks are held down, as NVML numbers it"},
     [](const GpuReadings& r) { return as_double(r.throttle_reasons); }},
    {{"gpu.pcie_tx_bytes", "bytes", "NVML field 197", "sent over PCIe so far"},
     [](const GpuReadings& r) { return as_double(r.pcie_tx_bytes); }},
    {{"gpu.pcie_rx_bytes", "bytes", "NVML field 198", "received over PCIe so far"},
     [](const GpuReadings& r) { return as_double(r.pcie_rx_bytes); }},
    {{"gpu.sm_activity_ratio", "ratio", "NVML GPM metric 2", "multiprocessors with a warp"},
     [](const GpuReadings& r) { return r.sm_activity_ratio; }},
    {{"gpu.tensor_activity_ratio", "ratio", "NVML GPM metric 5", "tensor pipes active"},
     [](const GpuReadings& r) { return r.tensor_activity_ratio; }},
    {{"gpu.dram_activity_ratio", "ratio", "NVML GPM metric 10", "peak memory bandwidth in use"},
     [](const GpuReadings& r) { return r.dram_activity_ratio; }},
}};

// Whose value seldom changes: written once a second, and when an error has come.
constexpr std::array<GpuMetric, 2> kErrorMetrics = {{
    {{"gpu.xid_errors", "count", "NVML XID events", "errors that the driver reported so far"},
     [](const GpuReadings& r) { return as_double(r.xid_errors); }},
    {{"gpu.last_xid", "XID", "NVML XID events", "the number of the latest of them"},
     [](const GpuReadings& r) { return as_double(r.last_xid); }},
}};

template <std::size_t kCount>
void put(const std::array<GpuMetric, kCount>& metrics, std::int32_t index,
         const GpuReadings& readings, SampleBook& book) {
  const std::string subject = "gpu" + std::to_string(index);
  for (const GpuMetric& metric : metrics) book.put(metric.metric, subject, metric.value(readings));
}

Reading<std::int64_t> to_reading(const std::optional<std::int64_t>& value) {
  return value ? Reading<std::int64_t>(*value) : Reading<std::int64_t>(WhyAbsent::kNotObserved);
}

}  // namespace

void GpuSource::find_devices() {
  const Result<std::vector<device::GpuDescription>> found = monitor_.enumerate();
  // A device that is lost for a moment keeps its subject; its readings are absent meanwhile.
  if (!found || found->size() <= devices_.size()) return;
  devices_ = *found;
  for (const device::GpuDescription& gpu : devices_) {
    trace::DeviceRow row;
    row.index = gpu.index;
    row.name = gpu.name;
    row.emulated = gpu.emulated;
    row.total_memory_bytes = gpu.total_memory_bytes;
    writer_.add(row);
  }
  writer_.put("device_kind", devices_.front().emulated ? "emulated" : "cuda");
  writer_.put("device_name", devices_.front().name);
  nlohmann::ordered_json uuids = nlohmann::ordered_json::array();
  for (const device::GpuDescription& gpu : devices_) uuids.push_back(gpu.uuid);
  writer_.put("gpu_uuids", uuids.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  describe_instances();
}

/// Of GPUs in MIG mode, whose readings mean something else, as the run's key `mig`.
void GpuSource::describe_instances() {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const device::GpuDescription& gpu : devices_) {
    if (!gpu.mig_mode.value_or(false)) continue;
    nlohmann::ordered_json entry = {{"gpu", gpu.index}, {"instances", gpu.instances.size()}};
    if (gpu.job_instance) {
      const device::MigInstance& instance = gpu.instances[*gpu.job_instance];
      entry["name"] = instance.name;
      entry["uuid"] = instance.uuid;
    }
    list.push_back(std::move(entry));
  }
  if (list.empty()) return;
  writer_.put("mig", list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

GpuReadings GpuSource::read(std::int32_t index, std::int64_t now_ns) {
  const Result<GpuReadings> read = monitor_.read(index);
  if (!read) return GpuReadings{};
  for (const device::GpuError& error : read->new_errors) {
    writer_.add(trace::GpuErrorRow{now_ns, index, error.xid, to_reading(error.gpu_instance),
                                   to_reading(error.compute_instance)});
  }
  return *read;
}

void GpuSource::sample(const Tick& tick, SampleBook& book) {
  if (tick.full_second) find_devices();
  for (const device::GpuDescription& gpu : devices_) {
    const GpuReadings readings = read(gpu.index, tick.now_ns);
    put(kMetrics, gpu.index, readings, book);
    if (tick.full_second || !readings.new_errors.empty()) {
      put(kErrorMetrics, gpu.index, readings, book);
    }
  }
}

void GpuSource::finish(std::int64_t now_ns, SampleBook& book) {
  for (const device::GpuDescription& gpu : devices_) {
    const GpuReadings readings = read(gpu.index, now_ns);
    if (!readings.new_errors.empty()) put(kErrorMetrics, gpu.index, readings, book);
  }
}

}  // namespace unstarve::observe
