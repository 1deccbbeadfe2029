#include "diagnose/signals/derive.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/statistics.h"
#include "diagnose/partition/whole_span.h"

namespace unstarve::diagnose {

namespace {

Reading<double> ratio(const Reading<double>& part, const Reading<double>& whole) {
  if (!part) return part.why_absent();
  if (!whole) return whole.why_absent();
  if (*whole <= 0) return WhyAbsent::kNotObserved;
  return *part / *whole;
}

// The CPUs that the job may use may be some of the machine's: what runs elsewhere takes none.
Reading<double> neighbour_cores(const HostSignals& host) {
  if (!host.host_cpu_cores) return host.host_cpu_cores.why_absent();
  if (!host.job_cpu_cores) return host.job_cpu_cores.why_absent();
  const double others = *host.host_cpu_cores - *host.job_cpu_cores - host.own_cpu_cores.value_or(0);
  const double most = host.effective_cpus.value_or(others);
  return std::clamp(others, 0.0, std::max(most, 0.0));
}

void derive_utilisation(const std::vector<double>& samples, Signals& out) {
  // Fewer samples say nothing of how the utilisation moves.
  constexpr std::size_t kFewest = 10;
  if (samples.size() < kFewest) return;
  constexpr double kHigh = 0.7;
  constexpr double kLow = 0.3;
  double sum = 0;
  double squares = 0;
  int falls = 0;
  bool high = false;
  for (const double sample : samples) {
    sum += sample;
    squares += sample * sample;
    if (high && sample <= kLow) ++falls;
    if (sample >= kHigh) high = true;
    if (sample <= kLow) high = false;
  }
  const double count = static_cast<double>(samples.size());
  const double mean = sum / count;
  out.gpu_utilisation_mean = mean;
  out.gpu_utilisation_deviation = std::sqrt(std::max(0.0, squares / count - mean * mean));
  out.gpu_utilisation_swings_ratio = falls / count;
}

/// What threads within fetches were seen to do.
void derive_fetch_looks(const HostSignals& host, Signals& out) {
  // Fewer looks say little of a share.
  constexpr double kFewest = 20;
  struct Part {
    const Reading<double>& looks;
    Reading<double>& ratio;
  };
  const std::array<Part, 4> parts = {{
      {host.fetch_looks_in_files, out.fetch_in_files_ratio},
      {host.fetch_looks_in_network, out.fetch_in_network_ratio},
      {host.fetch_looks_asleep, out.fetch_asleep_ratio},
      {host.fetch_looks_in_locks, out.fetch_in_locks_ratio},
  }};
  double all = host.fetch_looks_on_cpu.value_or(0) + host.fetch_looks_elsewhere.value_or(0);
  for (const Part& part : parts) all += part.looks.value_or(0);
  for (const Part& part : parts) {
    part.ratio = part.looks ? Reading<double>(WhyAbsent::kNotObserved) : part.looks.why_absent();
    if (part.looks && all >= kFewest) part.ratio = *part.looks / all;
  }
}

}  // namespace

Reading<double> median_of(const std::vector<double>& values) {
  if (values.empty()) return WhyAbsent::kNotObserved;
  return unstarve::median(values);
}

trace::Interval signal_window(const SignalSources& sources) {
  if (sources.worst != nullptr) return sources.worst->span;
  if (sources.rank.span) return *sources.rank.span;
  return {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
}

void derive_partition_signals(const SignalSources& sources, Signals& out) {
  const trace::Timeline& timeline = sources.timeline();
  const double seen = static_cast<double>(timeline.device_ops.size() + timeline.host_calls.size() +
                                          timeline.loader_waits.size() + timeline.steps.size());
  const double lost = static_cast<double>(timeline.events_lost);
  if (seen + lost > 0) out.events_lost_ratio = lost / (seen + lost);
  if (sources.worst == nullptr) return;
  const DevicePartition& worst = *sources.worst;
  const auto shares = shares_of_span(worst, sources.rank);
  const auto share_of = [&shares](Cause cause) { return shares[static_cast<std::size_t>(cause)]; };
  out.gpu_compute_ratio = share_of(Cause::kGpuCompute);
  out.exposed_communication_ratio = share_of(Cause::kExposedCommunication);
  out.exposed_copy_ratio = share_of(Cause::kExposedCopy);
  out.input_wait_ratio = share_of(Cause::kInputWait);
  out.sync_ratio = share_of(Cause::kSync);
  out.launch_ratio = share_of(Cause::kLaunch);
  out.kernel_wait_ratio = share_of(Cause::kKernelWait);
  out.other_ratio = share_of(Cause::kOther);
  const double recorded_ns = static_cast<double>(worst.recorded_ns);
  out.edge_other_ratio = static_cast<double>(worst.edge_other_ns) / recorded_ns;
  out.edge_busy_ratio = static_cast<double>(worst.edge_busy_ns) / recorded_ns;
  out.recorded_ratio = recorded_ns / static_cast<double>(worst.span.duration_ns());
  out.recorded_step_count = job::steps_in(sources.rank.steps, worst.parts);
  if (worst.ops > 0) {
    out.ops_without_launch_ratio =
        static_cast<double>(worst.ops_without_launch) / static_cast<double>(worst.ops);
  }
}

void derive_host_signals(const HostSignals& host, Signals& out) {
  out.effective_cpus = host.effective_cpus;
  out.job_cpu_cores = host.job_cpu_cores;
  out.cpu_use_ratio = ratio(host.job_cpu_cores, host.effective_cpus);
  out.cpu_waiting_threads = host.cpu_waiting_threads;
  const Reading<double> fetching = ratio(host.worker_fetch_cpu_cores, host.worker_cpu_cores);
  if (fetching) out.worker_side_ratio = std::max(0.0, 1 - *fetching);
  out.training_cpu_wait_ratio = host.training_cpu_wait_ratio;
  out.neighbour_cores = neighbour_cores(host);
  out.throttled_ratio = host.throttled_ratio;
  out.io_pressure_ratio = host.io_pressure_ratio;
  out.storage_bytes_per_s = host.storage_bytes_per_s;
  out.page_cache_miss_ratio = ratio(host.storage_bytes_per_s, host.requested_bytes_per_s);
  if (out.page_cache_miss_ratio) {
    // Read-ahead may fetch more than was asked for.
    out.page_cache_miss_ratio = std::min(1.0, *out.page_cache_miss_ratio);
  }
  out.read_call_bytes_per_s = host.requested_bytes_per_s;
  derive_fetch_looks(host, out);
  out.memory_available_bytes = host.memory_available_bytes;
  out.memory_available_ratio = ratio(host.memory_available_bytes, host.memory_total_bytes);
  out.gpu_memory_used_ratio = ratio(host.gpu_memory_used_bytes, host.gpu_memory_total_bytes);
  out.thermal_slowdown_ratio = host.thermal_slowdown_ratio;
  out.power_cap_ratio = host.power_cap_ratio;
  derive_utilisation(host.gpu_utilisation, out);
}

Signals derive_signals(const SignalSources& sources) {
  Signals out;
  derive_partition_signals(sources, out);
  derive_step_signals(sources, out);
  derive_fetch_signals(sources, out);
  derive_worker_signals(sources, out);
  derive_stage_signals(sources, out);
  derive_device_signals(sources, out);
  derive_kernel_signals(sources, out);
  derive_host_signals(sources.host, out);
  derive_consequences(out);
  return out;
}

}  // namespace unstarve::diagnose
