#include "diagnose/signals/run_signals.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/units.h"
#include "trace/run_series.h"

namespace unstarve::diagnose {

namespace {

// Bits of NVML's clocks event reasons.
constexpr std::uint64_t kSoftwarePowerCap = 0x4;
constexpr std::uint64_t kThermal = 0x8 | 0x20 | 0x40;

/// Share of the samples with any of these bits set.
Reading<double> share_with_bits(const std::vector<trace::SeriesPoint>& points, std::uint64_t bits) {
  double count = 0;
  double with = 0;
  WhyAbsent why = WhyAbsent::kNotObserved;
  for (const trace::SeriesPoint& point : points) {
    if (!point.value) {
      why = point.value.why_absent();
      continue;
    }
    ++count;
    if ((static_cast<std::uint64_t>(*point.value) & bits) != 0) ++with;
  }
  if (count == 0) return why;
  return with / count;
}

Reading<double> max_of(const std::vector<trace::SeriesPoint>& points) {
  Reading<double> most = WhyAbsent::kNotObserved;
  for (const trace::SeriesPoint& point : points) {
    if (point.value) {
      most = std::max(most.value_or(*point.value), *point.value);
    } else if (!most) {
      most = point.value;
    }
  }
  return most;
}

/// Sum of a count's samples.
Reading<double> sum_in(const trace::RunReader& run, std::string_view metric,
                       const trace::Interval& when, std::string_view subject = "job") {
  Reading<double> sum;
  for (const trace::SeriesPoint& point : trace::points_in(run, metric, subject, when)) {
    if (point.t_ns < when.start_ns) continue;  // the last one before: it counts what came earlier
    if (point.value) {
      sum = sum.value_or(0) + *point.value;
    } else if (!sum) {
      sum = point.value;
    }
  }
  if (const auto thinned = run.thinned(metric, subject, when); thinned && thinned->samples > 0) {
    sum = sum.value_or(0) + thinned->value;
  }
  return sum;
}

/// Every file that fetches were found in, with how often.
std::vector<LibraryLooks> libraries_in(const trace::RunReader& run, const trace::Interval& when) {
  constexpr std::string_view kMetric = "job.fetch_code_looks";
  std::vector<LibraryLooks> libraries;
  const auto metrics = run.metrics();
  if (!metrics) return libraries;
  // They are counted once a second, those of a job's last second right behind it.
  constexpr std::int64_t kForEver =
      std::numeric_limits<std::int64_t>::max();  // of a run that goes on
  const trace::Interval counted = {when.start_ns,
                                   std::min(when.end_ns, kForEver - kSecondNs) + kSecondNs};
  for (const trace::MetricRow& metric : *metrics) {
    if (metric.name != kMetric) continue;
    const Reading<double> looks = sum_in(run, kMetric, counted, metric.subject);
    if (looks && *looks > 0) libraries.push_back({metric.subject, *looks});
  }
  return libraries;
}

/// Mean of a rate over `when`. A sample stands for the time since the one before it, so one whose
/// time began earlier is left out: what was read at the start is no part of what comes after.
Reading<double> mean_rate_in(const trace::RunReader& run, std::string_view metric,
                             const trace::Interval& when) {
  double sum = 0;
  double time_ns = 0;
  double count = 0;
  WhyAbsent why = WhyAbsent::kNotObserved;
  for (const trace::SampledSpan& span : trace::spans_in(run, metric, "job", when)) {
    if (!span.value) {
      why = span.value.why_absent();
      continue;
    }
    const auto length_ns = static_cast<double>(span.when.duration_ns());
    sum += *span.value * length_ns;
    time_ns += length_ns;
    ++count;
  }
  if (time_ns <= 0) return why;
  // Those that a long run no longer holds came as often as the others.
  if (const auto thinned = run.thinned(metric, "job", when); thinned) {
    const double length_ns = time_ns / count;
    sum += thinned->value * length_ns;
    time_ns += static_cast<double>(thinned->samples) * length_ns;
  }
  return sum / time_ns;
}

Reading<double> min_of(const std::vector<trace::SeriesPoint>& points) {
  Reading<double> least = WhyAbsent::kNotObserved;
  for (const trace::SeriesPoint& point : points) {
    if (point.value) least = std::min(least.value_or(*point.value), *point.value);
  }
  return least;
}

/// Of the machine, or of the container where that has less; when least of it was left.
void read_memory(const trace::RunReader& run, const trace::Interval& when, HostSignals& host) {
  host.memory_available_bytes =
      min_of(trace::points_in(run, "host.memory_available_bytes", "host", when));
  host.memory_total_bytes = trace::mean_in(run, "host.memory_total_bytes", "host", when);
  const auto limit = min_of(trace::points_in(run, "cgroup.memory_limit_bytes", "cgroup", when));
  const auto used = max_of(trace::points_in(run, "cgroup.memory_used_bytes", "cgroup", when));
  if (!limit || !used || !host.memory_total_bytes) return;
  // What its page cache holds is given back when others want it.
  const auto cached = min_of(trace::points_in(run, "cgroup.page_cache_bytes", "cgroup", when));
  const double held = std::max(0.0, *used - cached.value_or(0));
  host.memory_total_bytes = std::min(*host.memory_total_bytes, *limit);
  host.memory_available_bytes =
      std::min(host.memory_available_bytes.value_or(*limit), std::max(0.0, *limit - held));
}

}  // namespace

HostSignals read_host_signals(const trace::RunReader& run, const trace::Interval& when,
                              const trace::JobGpu& gpu) {
  HostSignals host;
  host.effective_cpus = trace::mean_in(run, "job.effective_cores", "job", when);
  host.job_cpu_cores = trace::mean_in(run, "job.cpu_cores", "job", when);
  host.cpu_waiting_threads = trace::mean_in(run, "job.cpu_waiting_threads", "job", when);
  host.worker_cpu_cores = trace::mean_in(run, "job.worker_cpu_cores", "job", when);
  host.worker_fetch_cpu_cores = trace::mean_in(run, "job.worker_fetch_cpu_cores", "job", when);
  host.training_cpu_wait_ratio = trace::mean_in(run, "job.training_cpu_wait_ratio", "job", when);
  host.host_cpu_cores = trace::mean_in(run, "host.cpu_busy_cores", "host", when);
  host.own_cpu_cores = trace::mean_in(run, "unstarve.cpu_cores", "unstarve", when);
  // Several threads can be held back at once; the rule wants to know for how much of the time.
  host.throttled_ratio = trace::mean_in(run, "cgroup.throttled_cores", "cgroup", when);
  if (host.throttled_ratio) host.throttled_ratio = std::min(*host.throttled_ratio, 1.0);
  host.io_pressure_ratio = trace::mean_in(run, "cgroup.io_pressure_ratio", "cgroup", when);
  if (!host.io_pressure_ratio) {
    host.io_pressure_ratio = trace::mean_in(run, "host.io_pressure_ratio", "host", when);
  }
  host.storage_bytes_per_s = mean_rate_in(run, "job.storage_read_bytes_per_s", when);
  host.requested_bytes_per_s = mean_rate_in(run, "job.read_call_bytes_per_s", when);
  host.fetch_looks_on_cpu = sum_in(run, "job.fetch_looks_on_cpu", when);
  host.fetch_looks_in_files = sum_in(run, "job.fetch_looks_in_files", when);
  host.fetch_looks_in_network = sum_in(run, "job.fetch_looks_in_network", when);
  host.fetch_looks_asleep = sum_in(run, "job.fetch_looks_asleep", when);
  host.fetch_looks_in_locks = sum_in(run, "job.fetch_looks_in_locks", when);
  host.fetch_looks_elsewhere = sum_in(run, "job.fetch_looks_elsewhere", when);
  host.fetch_libraries = libraries_in(run, when);
  read_memory(run, when, host);
  const std::string subject = gpu.subject();
  for (const trace::SeriesPoint& point :
       trace::points_in(run, "gpu.utilization_ratio", subject, when)) {
    if (point.value) host.gpu_utilisation.push_back(*point.value);
  }
  // A batch has to fit at its largest.
  host.gpu_memory_used_bytes =
      max_of(trace::points_in(run, "gpu.memory_used_bytes", subject, when));
  const auto reasons = trace::points_in(run, "gpu.throttle_reasons", subject, when);
  host.thermal_slowdown_ratio = share_with_bits(reasons, kThermal);
  host.power_cap_ratio = share_with_bits(reasons, kSoftwarePowerCap);
  host.gpu_errors = run.gpu_errors().value_or(std::vector<trace::GpuErrorRow>());
  host.run_started_ns = run.number("started_ns");
  const auto devices = run.devices();
  for (const trace::DeviceRow& device : devices.value_or(std::vector<trace::DeviceRow>())) {
    if (device.index != gpu.index || !device.total_memory_bytes) continue;
    host.gpu_memory_total_bytes = static_cast<double>(*device.total_memory_bytes);
  }
  return host;
}

}  // namespace unstarve::diagnose
