#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/reading.h"
#include "trace/store/gpu_error.h"

namespace unstarve::diagnose {

/// Looks at threads within a fetch that found them in one file's code.
struct LibraryLooks {
  std::string library;  // the file's name
  double looks = 0;
};

/// Which GPU of a log is looked at.
struct LoggedGpu {
  std::int64_t index = 0;
  std::int64_t of = 0;  // so many that the log has; 0: it is of no log
};

/// What the sampler saw beside the job. Filled by the caller, so that diagnose needs no run store;
/// means are over the steps that are looked at. A trace from elsewhere has none of it.
struct HostSignals {
  Reading<double> effective_cpus;           // min(affinity, cpuset, ceil(quota / period))
  Reading<double> job_cpu_cores;            // CPU seconds of the job's process tree per second
  Reading<double> cpu_waiting_threads;      // main threads of its processes that wait for a CPU
  Reading<double> worker_cpu_cores;         // CPU seconds of its workers per second
  Reading<double> worker_fetch_cpu_cores;   // ... of their threads that fetch
  Reading<double> training_cpu_wait_ratio;  // of the time, threads that train wait for a CPU
  Reading<double> host_cpu_cores;         // CPU seconds of all processes of the machine per second
  Reading<double> own_cpu_cores;          // of the process that watches
  Reading<double> throttled_ratio;        // cgroup throttled time / wall time
  Reading<double> io_pressure_ratio;      // PSI io "some" time / wall time
  Reading<double> storage_bytes_per_s;    // read_bytes of the process tree
  Reading<double> requested_bytes_per_s;  // rchar of the process tree; mmap reads bypass it
  /// Looks at threads within a fetch, by what the thread did then; all are there or none is.
  Reading<double> fetch_looks_on_cpu;
  Reading<double> fetch_looks_in_files;
  Reading<double> fetch_looks_in_network;
  Reading<double> fetch_looks_asleep;
  Reading<double> fetch_looks_in_locks;
  Reading<double> fetch_looks_elsewhere;
  std::vector<LibraryLooks> fetch_libraries;  // none: nobody looked, or was allowed to
  Reading<double> memory_available_bytes;     // of the host, or of the cgroup's limit
  Reading<double> memory_total_bytes;
  /// GPU utilisation samples 0..1 in the order of time; empty when there is no monitor.
  std::vector<double> gpu_utilisation;
  Reading<double> gpu_memory_used_bytes;
  Reading<double> gpu_memory_total_bytes;
  Reading<double> thermal_slowdown_ratio;      // of the samples
  Reading<double> power_cap_ratio;             // of the samples
  std::vector<trace::GpuErrorRow> gpu_errors;  // of all of the run, by time
  std::int64_t run_started_ns = 0;
  LoggedGpu logged = {};  // whose all this is, where it is of a log
};

}  // namespace unstarve::diagnose
