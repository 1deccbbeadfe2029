#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/reading.h"
#include "base/result.h"
#include "trace/timeline/interval.h"

namespace unstarve::observe {

/// One line of a log; what its columns do not say is absent.
struct GpuLogSample {
  Reading<std::int64_t> t_ns = {};    // since 1970, by the clock of who wrote it
  Reading<double> utilisation = {};   // 0..1
  Reading<double> memory_used = {};   // bytes
  Reading<double> memory_total = {};  // bytes
  Reading<double> power_w = {};
  Reading<double> power_limit_w = {};
  Reading<double> clock_mhz = {};  // of the multiprocessors
  Reading<double> clock_max_mhz = {};
  Reading<bool> held_by_heat = {};
  Reading<bool> held_by_power = {};
};

/// What nvidia-smi said in place of a sample.
struct LoggedFault {
  std::string words;
  std::int64_t lines = 0;  // that say so
};

struct LoggedGpu {
  std::int64_t index = 0;
  std::string name = {};  // empty: the log does not say
  std::vector<GpuLogSample> samples;
};

/// What nvidia-smi said, again and again.
struct GpuLog {
  std::vector<LoggedGpu> gpus;      // by index, each with a sample
  std::vector<LoggedFault> faults;  // in the order in which they came, a few
  std::int64_t lines_lost = 0;      // of whose columns some are missing, as where it was cut off
};

/// Whether a file begins as `nvidia-smi --query-gpu=... --format=csv` or `nvidia-smi dmon` write.
bool is_gpu_log(const std::string& path);

/// Reads such a file, plain or gzip. Errors name it: kCorruptData for what is no such log, or holds
/// more than ten million samples.
Result<GpuLog> import_gpu_log(const std::string& path);

/// The same for bytes in memory; `name` stands for the file in messages.
Result<GpuLog> import_gpu_log_bytes(std::span<const char> bytes, const std::string& name);

/// From the first sample of a GPU to its last; absent without times.
Reading<trace::Interval> span_of(const LoggedGpu& gpu);

}  // namespace unstarve::observe
