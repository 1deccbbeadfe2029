#pragma once

#include <cstdint>
#include <string_view>

#include "base/reading.h"
#include "base/result.h"
#include "host/host_files.h"

namespace unstarve::host {

/// What keeps a process from using more CPUs.
enum class CpuBound : std::uint8_t { kMachine, kAffinity, kCpuset, kQuota };
/// "machine", "affinity", "cpuset", "quota".
std::string_view to_string(CpuBound bound);

/// How many CPUs a process may really use: less than the machine has, often, in a container.
struct EffectiveCpus {
  std::int64_t count = 1;  // min(affinity, cpuset, quota rounded up), at least 1
  double cores = 1.0;      // the same without rounding: a quota of 1.5 is 1.5
  CpuBound bound = CpuBound::kMachine;
  Reading<std::int64_t> machine;  // CPUs that are online
  Reading<std::int64_t> affinity;
  Reading<std::int64_t> cpuset;
  Reading<double> quota_cores;
};

/// `pid` 0 means this process. An error only when nothing at all could be learnt.
Result<EffectiveCpus> effective_cpus(const HostFiles& files, std::int64_t pid = 0);

}  // namespace unstarve::host
