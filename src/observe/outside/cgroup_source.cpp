#include "observe/outside/cgroup_source.h"

#include "base/units.h"
#include "host/effective_cpus.h"

namespace unstarve::observe {

namespace {

constexpr MetricDescriptor kQuota{"cgroup.quota_cores", "cores",
                                  "cpu.max or cpu.cfs_quota_us, least up to the root",
                                  "CPU time per second that the group may use"};
constexpr MetricDescriptor kThrottled{"cgroup.throttled_cores", "cores",
                                      "cpu.stat throttled_usec or throttled_time",
                                      "CPUs of the group that its quota held back, mean over time"};
constexpr MetricDescriptor kMemoryUsed{"cgroup.memory_used_bytes", "bytes",
                                       "memory.current or memory.usage_in_bytes",
                                       "memory charged to the group, page cache included"};
constexpr MetricDescriptor kMemoryLimit{"cgroup.memory_limit_bytes", "bytes",
                                        "memory.max or memory.limit_in_bytes, least up to the root",
                                        "memory that the group may use"};
constexpr MetricDescriptor kGroupPageCache{"cgroup.page_cache_bytes", "bytes",
                                           "memory.stat file or total_cache",
                                           "page cache charged to the group"};
constexpr MetricDescriptor kRead{"cgroup.storage_read_bytes_per_s", "bytes/s",
                                 "io.stat or blkio.throttle.io_service_bytes",
                                 "read from storage devices by the group"};
constexpr MetricDescriptor kEffective{
    "job.effective_cores", "cores", "affinity, cpuset and quota",
    "CPUs that the job may really use; a quota may make it a fraction"};
constexpr std::array<MetricDescriptor, 3> kGroupPressures = {{
    {"cgroup.cpu_pressure_ratio", "ratio", "cpu.pressure some total",
     "time in which at least one task of the group was ready but had no CPU"},
    {"cgroup.io_pressure_ratio", "ratio", "io.pressure some total",
     "time in which at least one task of the group waited for I/O"},
    {"cgroup.memory_pressure_ratio", "ratio", "memory.pressure some total",
     "time in which at least one task of the group waited for memory"},
}};

Reading<double> scaled(const Reading<std::int64_t>& count, double factor) {
  if (!count) return count.why_absent();
  return static_cast<double>(*count) * factor;
}

Reading<double> waited_s(const Reading<host::Pressure>& pressure) {
  if (!pressure) return pressure.why_absent();
  return static_cast<double>((*pressure).some_us) * 1e-6;
}

}  // namespace

void CgroupSource::sample(const Tick& tick, SampleBook& book) {
  if (!tick.full_second) return;
  if (!found_) {
    const Result<host::CgroupFolders> folders = host::find_cgroup(files_, job_);
    if (folders) folders_ = *folders;
    found_ = folders.has_value();
  }
  // Affinity and quotas hardly ever change: once a minute, whichever ticks were skipped meanwhile.
  if (tick.now_ns >= next_limits_ns_) {
    next_limits_ns_ = tick.now_ns + 60 * kSecondNs;
    const Result<host::EffectiveCpus> cpus = host::effective_cpus(files_, job_);
    book.put(kEffective, "job",
             cpus ? Reading<double>(cpus->cores) : Reading<double>(WhyAbsent::kNotSupported));
  }
  const host::CgroupReadings now = host::read_cgroup(files_, folders_);
  book.put(kQuota, "cgroup", now.quota_cores);
  book.put(kMemoryUsed, "cgroup", scaled(now.memory_used_bytes, 1.0));
  book.put(kMemoryLimit, "cgroup", scaled(now.memory_limit_bytes, 1.0));
  book.put(kGroupPageCache, "cgroup", scaled(now.memory_file_bytes, 1.0));
  const Reading<double> throttled =
      throttled_.per_second(scaled(now.throttled_ns, 1e-9), tick.now_ns);
  const Reading<double> read = read_.per_second(scaled(now.read_bytes, 1.0), tick.now_ns);
  const std::array<Reading<double>, 3> pressures = {
      waited_s(now.cpu_pressure), waited_s(now.io_pressure), waited_s(now.memory_pressure)};
  if (tick.number > 0) {
    book.put(kThrottled, "cgroup", throttled);
    book.put(kRead, "cgroup", read);
  }
  for (std::size_t i = 0; i < pressures.size(); ++i) {
    const Reading<double> ratio = pressures_[i].per_second(pressures[i], tick.now_ns);
    if (tick.number > 0) book.put(kGroupPressures[i], "cgroup", ratio);
  }
}

}  // namespace unstarve::observe
