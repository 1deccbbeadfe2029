#include "sink/recent/other_gpus.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/shell_word.h"
#include "base/units.h"
#include "device/monitor/open_gpu_monitor.h"
#include "host/process_names.h"
#include "sink/recent/recent_job.h"
#include "trace/text/secrets.h"

namespace unstarve::sink {

namespace {

/// By its UUID; where the run does not know that, by its number.
bool has(const report::LiveJob& job, const device::GpuDescription& gpu) {
  return std::any_of(job.gpus.begin(), job.gpus.end(), [&](const report::LiveGpu& one) {
    return one.uuid.empty() ? !job.emulated && one.index == gpu.index : one.uuid == gpu.uuid;
  });
}

Reading<double> as_double(const Reading<std::int64_t>& reading) {
  if (!reading) return reading.why_absent();
  return static_cast<double>(*reading);
}

}  // namespace

OtherGpus::OtherGpus(const Clock& clock) : clock_(clock) {
  auto monitor = device::open_gpu_monitor({}, clock);
  if (monitor) monitor_ = *std::move(monitor);
}

std::vector<report::OtherGpu> OtherGpus::look(std::span<const report::LiveJob> jobs,
                                              std::int64_t curve_s) {
  std::vector<report::OtherGpu> others;
  if (monitor_ == nullptr) return others;
  const auto gpus = monitor_->enumerate();
  if (!gpus) return others;
  const std::int64_t second = clock_.now_ns() / kSecondNs;
  is_new_second_ = second != second_;
  second_ = second;
  for (const device::GpuDescription& gpu : *gpus) {
    const bool is_watched = std::any_of(
        jobs.begin(), jobs.end(), [&gpu](const report::LiveJob& job) { return has(job, gpu); });
    if (!is_watched) others.push_back(read(gpu, curve_s));
  }
  return others;
}

std::vector<report::GpuProcess> OtherGpus::named(
    const std::vector<device::GpuProcess>& processes) const {
  const bool can_name = host::has_machine_numbers(files_);
  std::vector<report::GpuProcess> named;
  for (const device::GpuProcess& process : processes) {
    report::GpuProcess one;
    one.pid = process.pid;
    one.memory_bytes = as_double(process.memory_used_bytes);
    if (can_name) {
      one.user = host::user_of(process.pid, files_);
      for (const std::string& word :
           trace::without_secrets(host::command_of(process.pid, files_))) {
        one.command += (one.command.empty() ? "" : " ") + shell_word(word);
      }
    }
    named.push_back(std::move(one));
  }
  std::stable_sort(named.begin(), named.end(), [](const auto& a, const auto& b) {
    return a.memory_bytes.value_or(0) > b.memory_bytes.value_or(0);
  });
  return named;
}

report::OtherGpu OtherGpus::read(const device::GpuDescription& gpu, std::int64_t curve_s) {
  report::OtherGpu other;
  other.name = gpu.name;
  other.gpu.index = gpu.index;
  other.gpu.uuid = gpu.uuid;
  other.memory_total_bytes = as_double(gpu.total_memory_bytes);
  other.gpu.utilization = other.gpu.memory_bytes = other.gpu.power_w = WhyAbsent::kNotObserved;
  other.processes = WhyAbsent::kNotObserved;
  const auto readings = monitor_->read(gpu.index);
  if (readings) {
    other.gpu.utilization = readings->utilization_ratio;
    other.gpu.memory_bytes = as_double(readings->memory_used_bytes);
    other.gpu.power_w = readings->power_w;
    if (readings->processes) {
      other.processes = static_cast<std::int64_t>(readings->processes->size());
      other.process_list = named(*readings->processes);
    } else {
      other.processes = readings->processes.why_absent();
    }
  }
  std::deque<double>& curve = curves_[gpu.uuid];
  if (is_new_second_) {
    curve.push_back(other.gpu.utilization.value_or(std::numeric_limits<double>::quiet_NaN()));
    if (curve.size() > static_cast<std::size_t>(RecentJob::kKeptSeconds)) curve.pop_front();
  }
  const auto shown = std::min(curve.size(), static_cast<std::size_t>(curve_s));
  other.gpu.curve.assign(curve.end() - static_cast<std::ptrdiff_t>(shown), curve.end());
  return other;
}

}  // namespace unstarve::sink
