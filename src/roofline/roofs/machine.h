#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/reading.h"
#include "base/result.h"
#include "host/host_files.h"

namespace unstarve::roofline {

/// One GPU, as NVML names it.
struct MachineGpu {
  std::string name;
  std::string uuid;
};

/// The machine that is measured, as this process may use it.
struct Machine {
  std::string cpu_model;
  std::int64_t cpus = 0;           // online
  double cores_allowed = 1;        // of affinity, cpuset and quota the least
  std::string cores_bound_by;      // "machine", "affinity", "cpuset", "quota"
  Reading<double> quota_cores;     // of the control group
  std::uint64_t memory_bytes = 0;  // of the machine, or what its control group may use
  std::string kernel;              // "6.1.0-18-amd64"
  std::vector<MachineGpu> gpus;

  // Not part of who it is.
  int threads = 1;  // how many are measured at most: whole cores allowed
  std::uint64_t free_memory_bytes = 0;
  std::uint64_t caches_bytes = 0;  // last-level caches, each counted once
  std::vector<std::string> cpu_flags;
  std::string cpu_vendor;  // "AuthenticAMD"
  int cpu_family = 0;
};

/// Errors: nothing at all can be learnt of CPUs or memory.
Result<Machine> look_at_machine(const host::HostFiles& files);

/// By which a machine is known again: 16 hexadecimal digits of its CPU, the cores and memory that
/// may be used, and its GPUs. A kernel's update leaves a machine the same.
std::string machine_key(const Machine& machine);

/// How many cores others keep busy, seen between two moments.
///
///   OthersCpu others(files, clock);   // now
///   Reading<double> cores = others.cores();
///
/// unit: cores.  source: /proc/stat, less the CPU time of this process and its ended children.
/// error: ticks of 10 ms; in a container /proc/stat is all of the machine's.  cost: one read.
class OthersCpu {
 public:
  OthersCpu(const host::HostFiles& files, const Clock& clock);
  /// Since it was made, or since the last call. Absent: /proc/stat does not say.
  Reading<double> cores();

 private:
  struct Moment {
    std::int64_t now_ns = 0;
    Reading<double> busy_s;
    double own_s = 0;
  };
  Moment look() const;
  const host::HostFiles& files_;
  const Clock& clock_;
  Moment before_;
};

}  // namespace unstarve::roofline
