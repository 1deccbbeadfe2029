#include "cost/usage/usage.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "base/units.h"
#include "trace/job_gpu.h"
#include "trace/json/json_text.h"
#include "trace/run_series.h"

namespace unstarve::cost {

namespace {

using diagnose::Cause;
using diagnose::Partition;
using trace::Interval;

double length_s(const Interval& when) {
  return static_cast<double>(when.end_ns - when.start_ns) * kSecondsPerNs;
}

/// From the earliest to the latest of all devices' spans, or of all ranks' where none ran anything.
std::optional<Interval> training_of(const diagnose::PartitionedJob& job) {
  std::optional<Interval> all;
  const auto add = [&](const Interval& span) {
    if (span.end_ns <= span.start_ns) return;
    if (!all) all = span;
    all = Interval{std::min(all->start_ns, span.start_ns), std::max(all->end_ns, span.end_ns)};
  };
  for (const diagnose::DevicePartition& device : job.devices) add(device.span);
  if (all) return all;
  for (const job::Rank& rank : job.job.ranks()) {
    if (rank.span) add(*rank.span);
  }
  return all;
}

/// The last moment that a run tells of: its end, or what was read last.
std::int64_t end_of(const trace::RunReader& run) {
  if (const std::int64_t ended_ns = run.number("ended_ns"); ended_ns > 0) return ended_ns;
  const auto readings = run.series("unstarve.cpu_cores", "unstarve");
  return readings && !readings->empty() ? readings->back().t_ns : 0;
}

ByPhase<Interval> phases_of(const trace::RunReader& run, const std::optional<Interval>& training) {
  const std::int64_t start_ns = run.number("started_ns");
  const std::int64_t end_ns = std::max(start_ns, end_of(run));
  if (!training) return {{{start_ns, end_ns}, {end_ns, end_ns}, {end_ns, end_ns}}};
  const std::int64_t first_ns = std::clamp(training->start_ns, start_ns, end_ns);
  const std::int64_t last_ns = std::clamp(training->end_ns, first_ns, end_ns);
  return {{{start_ns, first_ns}, {first_ns, last_ns}, {last_ns, end_ns}}};
}

std::array<double, diagnose::kCauseCount> shares_of(const Partition& partition) {
  return {partition.gpu_compute,  partition.exposed_communication,
          partition.exposed_copy, partition.input_wait,
          partition.sync,         partition.launch,
          partition.kernel_wait,  partition.other};
}

/// The driver's numbers of GPUs in MIG mode.
std::set<std::int64_t> split_gpus(const trace::RunReader& run) {
  std::set<std::int64_t> split;
  const nlohmann::json list = trace::parse_json(run.info("mig"));
  if (!list.is_array()) return split;
  for (const nlohmann::json& gpu : list) {
    if (gpu.is_object() && gpu.contains("gpu") && gpu["gpu"].is_number_integer()) {
      split.insert(gpu["gpu"].get<std::int64_t>());
    }
  }
  return split;
}

const diagnose::DevicePartition* partition_of(const diagnose::PartitionedJob& job,
                                              std::int32_t device) {
  const auto found = std::find_if(job.devices.begin(), job.devices.end(),
                                  [&](const auto& other) { return other.device == device; });
  return found == job.devices.end() ? nullptr : &*found;
}

/// The driver's number of a recorded device. Torch's profiler has CUDA's number in the process, so
/// that of the only device of a process is asked of what that said itself.
std::int64_t driver_index(const trace::RunReader& run, const diagnose::PartitionedJob& job,
                          std::int32_t device) {
  const diagnose::DevicePartition* const found = partition_of(job, device);
  if (found == nullptr) return device;
  const auto same_rank = [&](const auto& other) { return other.rank == found->rank; };
  const std::int64_t process = job.job.ranks()[found->rank].process;
  const bool alone = std::count_if(job.devices.begin(), job.devices.end(), same_rank) == 1;
  const trace::TrainingDevice* const told = job.job.timeline().device_of(process);
  return alone && told != nullptr && told->kind == "cuda" ? trace::job_gpu(run, process).index
                                                          : device;
}

/// A GPU, and when it trains.
struct FoundGpu {
  UsedGpu gpu;
  std::optional<Interval> training;
};

FoundGpu recorded_gpu(const diagnose::PartitionedJob& job,
                      const diagnose::DeviceDiagnosis& device) {
  FoundGpu found;
  found.gpu.index = device.info.index;
  found.gpu.name = device.info.name;
  found.gpu.emulated = device.info.emulated;
  found.gpu.shares = shares_of(device.partition);
  if (const auto* const partition = partition_of(job, device.info.index)) {
    found.training = partition->span;
  }
  return found;
}

/// Those whose activity was recorded; else those that the job's processes say they train on.
std::vector<FoundGpu> gpus_of(const trace::RunReader& run, const diagnose::PartitionedJob& job,
                              const diagnose::Diagnosis& diagnosis) {
  std::vector<FoundGpu> gpus;
  for (const diagnose::DeviceDiagnosis& device : diagnosis.devices) {
    gpus.push_back(recorded_gpu(job, device));
    gpus.back().gpu.index = driver_index(run, job, device.info.index);
  }
  if (!gpus.empty()) return gpus;
  const auto training = training_of(job);
  std::set<std::int64_t> indices;
  for (const job::Rank& rank : job.job.ranks()) {
    const trace::TrainingDevice* const device = job.job.timeline().device_of(rank.process);
    if (device == nullptr || device->kind != "cuda") continue;
    indices.insert(trace::job_gpu(run, rank.process).index);
  }
  for (const std::int64_t index : indices) gpus.push_back({{.index = index, .name = {}}, training});
  return gpus;
}

void add_name(const trace::RunReader& run, UsedGpu& gpu) {
  const auto rows = run.devices();
  if (!rows) return;
  for (const trace::DeviceRow& row : *rows) {
    if (row.index != gpu.index) continue;
    if (gpu.name.empty()) gpu.name = row.name;
    gpu.emulated = gpu.emulated || row.emulated;
  }
}

void measure_energy(const trace::RunReader& run, const ByPhase<Interval>& phases, UsedGpu& gpu) {
  if (gpu.split) {
    gpu.energy.fill({WhyAbsent::kNotSupported, 0});
    return;
  }
  const std::string subject = trace::JobGpu{gpu.index}.subject();
  const auto has_value = [](const auto& series) {
    return series && std::any_of(series->begin(), series->end(),
                                 [](const auto& point) { return point.value.has_value(); });
  };
  const auto counter = run.series("gpu.energy_j", subject);
  const auto power = run.series("gpu.power_w", subject);
  gpu.by_power = !has_value(counter) && has_value(power);
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    if (gpu.by_power) {
      gpu.energy[i] = energy_by_power(*power, phases[i]);
    } else if (counter) {
      gpu.energy[i] = energy_by_counter(*counter, phases[i]);
    }
  }
}

/// The processors' energy, and of it the job's share of the CPU time that the machine was busy for.
Energy cpu_energy(const trace::RunReader& run, const Interval& when) {
  const auto counter = run.series("host.cpu_energy_j", "host");
  if (!counter) return {};
  Energy energy = energy_by_counter(*counter, when);
  if (!energy.joules) return energy;
  const auto job_cores = trace::mean_in(run, "job.cpu_cores", "job", when);
  const auto busy_cores = trace::mean_in(run, "host.cpu_busy_cores", "host", when);
  if (!job_cores || !busy_cores || *busy_cores <= 0) return {WhyAbsent::kNotObserved, 0};
  energy.joules = *energy.joules * std::min(1.0, *job_cores / *busy_cores);
  return energy;
}

ByPhase<double> lengths_s(const ByPhase<Interval>& phases) {
  return {length_s(phases[0]), length_s(phases[1]), length_s(phases[2])};
}

}  // namespace

Usage usage_of(const trace::RunReader& run, const diagnose::PartitionedJob& job,
               const diagnose::Diagnosis& diagnosis) {
  Usage usage;
  usage.ranks = job.job.ranks().size();
  const std::set<std::int64_t> split = split_gpus(run);
  for (FoundGpu& found : gpus_of(run, job, diagnosis)) {
    const ByPhase<Interval> phases = phases_of(run, found.training);
    add_name(run, found.gpu);
    found.gpu.seconds = lengths_s(phases);
    found.gpu.split = split.contains(found.gpu.index);
    measure_energy(run, phases, found.gpu);
    usage.gpus.push_back(std::move(found.gpu));
  }
  const ByPhase<Interval> phases = phases_of(run, training_of(job));
  usage.seconds = lengths_s(phases);
  for (std::size_t i = 0; i < kPhaseCount; ++i) usage.cpu[i] = cpu_energy(run, phases[i]);
  return usage;
}

Usage usage_of(const diagnose::PartitionedJob& job, const diagnose::Diagnosis& diagnosis) {
  constexpr auto kOnlyPart = static_cast<std::size_t>(Phase::kTraining);
  Usage usage;
  usage.ranks = job.job.ranks().size();
  for (const diagnose::DeviceDiagnosis& device : diagnosis.devices) {
    FoundGpu found = recorded_gpu(job, device);
    if (found.training) found.gpu.seconds[kOnlyPart] = length_s(*found.training);
    usage.gpus.push_back(std::move(found.gpu));
  }
  if (const auto training = training_of(job)) usage.seconds[kOnlyPart] = length_s(*training);
  return usage;
}

void add_rank(const Usage& rank, Usage& job) {
  job.gpus.insert(job.gpus.end(), rank.gpus.begin(), rank.gpus.end());
  job.ranks += rank.ranks;
}

}  // namespace unstarve::cost
