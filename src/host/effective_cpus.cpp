#include "host/effective_cpus.h"

#include <algorithm>
#include <cmath>

#include "host/cgroup.h"
#include "host/procfs.h"

namespace unstarve::host {

namespace {

Reading<std::int64_t> online_cpus(const HostFiles& files) {
  const Result<std::string> text = files.read("/sys/devices/system/cpu/online");
  if (!text) return WhyAbsent::kNotSupported;
  const Result<std::int64_t> cpus = count_cpu_list(*text);
  if (!cpus || *cpus == 0) return WhyAbsent::kNotSupported;
  return *cpus;
}

Reading<std::int64_t> affinity_of(const HostFiles& files, std::int64_t pid) {
  const std::string process = pid == 0 ? "/proc/self" : "/proc/" + std::to_string(pid);
  const Result<std::string> text = files.read(process + "/status");
  if (!text) return WhyAbsent::kNotSupported;
  const Result<ProcessStatus> status = parse_process_status(*text);
  if (!status || status->allowed_cpus.value_or(0) == 0) return WhyAbsent::kNotSupported;
  return status->allowed_cpus;
}

/// Lowers `cpus` to `limit` if it is the tighter one.
void limit_to(EffectiveCpus& cpus, const Reading<double>& limit, CpuBound bound) {
  if (!limit || *limit >= cpus.cores) return;
  cpus.cores = *limit;
  cpus.bound = bound;
}

Reading<double> as_cores(const Reading<std::int64_t>& count) {
  if (!count) return count.why_absent();
  return static_cast<double>(*count);
}

}  // namespace

std::string_view to_string(CpuBound bound) {
  switch (bound) {
    case CpuBound::kMachine: return "machine";
    case CpuBound::kAffinity: return "affinity";
    case CpuBound::kCpuset: return "cpuset";
    case CpuBound::kQuota: return "quota";
  }
  return "machine";
}

Result<EffectiveCpus> effective_cpus(const HostFiles& files, std::int64_t pid) {
  EffectiveCpus cpus;
  cpus.machine = online_cpus(files);
  cpus.affinity = affinity_of(files, pid);
  if (const Result<CgroupFolders> folders = find_cgroup(files, pid)) {
    cpus.cpuset = cpuset_cpus(files, *folders);
    cpus.quota_cores = quota_cores(files, *folders);
  }
  const Reading<std::int64_t> start = cpus.machine ? cpus.machine : cpus.affinity;
  if (!start) {
    return fail(ErrorCode::kNotSupported,
                "cannot tell how many CPUs there are: neither /sys/devices/system/cpu/online nor "
                "/proc/PID/status can be read");
  }
  cpus.cores = static_cast<double>(*start);
  // The kernel's affinity mask is never wider than the cpuset: what both name is the cpuset's.
  limit_to(cpus, as_cores(cpus.cpuset), CpuBound::kCpuset);
  limit_to(cpus, as_cores(cpus.affinity), CpuBound::kAffinity);
  limit_to(cpus, cpus.quota_cores, CpuBound::kQuota);
  cpus.count = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(cpus.cores)));
  return cpus;
}

}  // namespace unstarve::host
