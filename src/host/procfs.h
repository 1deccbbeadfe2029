#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/reading.h"
#include "base/result.h"

namespace unstarve::host {

// Parsers of the texts in /proc; proc(5) defines them. They accept any bytes.

/// /proc/PID/stat.
struct ProcessStat {
  std::int64_t pid = 0;
  std::string command;  // at most 15 characters, may hold anything
  char state = '?';
  std::int64_t ppid = 0;
  std::int64_t user_ticks = 0;  // of all its threads, living and dead
  std::int64_t system_ticks = 0;
  // Of children that it has waited for, and of theirs.
  std::int64_t reaped_user_ticks = 0;
  std::int64_t reaped_system_ticks = 0;
  std::int64_t threads = 0;
  std::int64_t start_ticks = 0;  // since boot; with the pid it names a process for good
  std::int64_t resident_pages = 0;
  std::int64_t block_io_ticks = 0;  // zero for ever where the kernel does not account delays
};
Result<ProcessStat> parse_process_stat(std::string_view text);

/// /proc/PID/io. `read_chars` counts what read() returned, from cache or not; `read_bytes` what a
/// storage device delivered. Reads through mmap appear in the second only.
struct ProcessIo {
  std::int64_t read_chars = 0;
  std::int64_t read_bytes = 0;
  std::int64_t write_bytes = 0;
};
Result<ProcessIo> parse_process_io(std::string_view text);

/// /proc/PID/schedstat: of the process's first thread only, in ns.
struct SchedulerStat {
  std::int64_t run_ns = 0;
  std::int64_t wait_ns = 0;  // runnable, waiting for a CPU
};
Result<SchedulerStat> parse_scheduler_stat(std::string_view text);

/// Lines of /proc/PID/status that we use.
struct ProcessStatus {
  Reading<std::int64_t> voluntary_switches;
  Reading<std::int64_t> involuntary_switches;
  Reading<std::int64_t> allowed_cpus;  // in Cpus_allowed_list
};
Result<ProcessStatus> parse_process_status(std::string_view text);

/// /proc/meminfo, in bytes.
struct MemoryInfo {
  std::int64_t total_bytes = 0;
  Reading<std::int64_t> available_bytes;
  Reading<std::int64_t> cached_bytes;  // page cache
  Reading<std::int64_t> dirty_bytes;
};
Result<MemoryInfo> parse_memory_info(std::string_view text);

/// The first line of /proc/stat: ticks of all CPUs together since boot.
struct CpuTimes {
  std::int64_t busy_ticks = 0;  // user, nice, system, irq, softirq, steal
  std::int64_t idle_ticks = 0;
  std::int64_t io_wait_ticks = 0;  // idle with a read or write outstanding
};
Result<CpuTimes> parse_cpu_times(std::string_view text);

/// A pressure file (PSI): microseconds since boot in which at least one task (`some`), or all of
/// them (`full`, which /proc/pressure/cpu may lack), waited for the resource.
struct Pressure {
  std::int64_t some_us = 0;
  Reading<std::int64_t> full_us;
};
Result<Pressure> parse_pressure(std::string_view text);

/// /proc/cpuinfo: the value of the first line `name : value`; empty where there is none.
std::string cpuinfo_value(std::string_view text, std::string_view name);
/// It has a kilobyte or two for each CPU.
inline constexpr std::size_t kCpuinfoBytesMax = 16U << 20;

/// How many CPUs a list like `0-3,8` names.
Result<std::int64_t> count_cpu_list(std::string_view text);

/// USER_HZ: the ticks of the above in a second.
std::int64_t ticks_per_s();
std::int64_t page_bytes();

}  // namespace unstarve::host
