#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/reading.h"
#include "base/result.h"
#include "host/host_files.h"
#include "host/procfs.h"

namespace unstarve::host {

/// Where the control groups of a process lie in the file system, for version 1, 2 or both (hosts
/// exist that mount both and use one). Empty: there is none.
struct CgroupFolders {
  std::string unified;                        // version 2
  std::string unified_mount;                  // where walking up from there ends
  std::map<std::string, std::string> legacy;  // version 1: controller -> folder
  std::map<std::string, std::string> legacy_mounts;
};
/// `pid` 0 means this process.
Result<CgroupFolders> find_cgroup(const HostFiles& files, std::int64_t pid);

/// What a control group allows and what it has used. Counters only grow.
struct CgroupReadings {
  Reading<double> quota_cores;         // least of the group and its ancestors; absent: none
  Reading<std::int64_t> throttled_ns;  // time that its tasks were held back by the quota
  Reading<std::int64_t> throttled_periods;
  Reading<std::int64_t> memory_used_bytes;   // page cache included
  Reading<std::int64_t> memory_limit_bytes;  // least of the group and its ancestors; absent: none
  Reading<std::int64_t> memory_file_bytes;   // page cache charged to it
  Reading<std::int64_t> read_bytes;          // from storage devices
  Reading<Pressure> cpu_pressure;            // version 2 only
  Reading<Pressure> io_pressure;
  Reading<Pressure> memory_pressure;
};
CgroupReadings read_cgroup(const HostFiles& files, const CgroupFolders& folders);

/// CPUs in the group's cpuset.
Reading<std::int64_t> cpuset_cpus(const HostFiles& files, const CgroupFolders& folders);
/// Least CPU quota of the group and its ancestors, in cores.
Reading<double> quota_cores(const HostFiles& files, const CgroupFolders& folders);

// Parsers, for tests and the fuzzer.

/// cpu.max: `max 100000` or `150000 100000`; no value when there is no quota.
Result<Reading<double>> parse_cpu_max(std::string_view text);
/// `name value` lines: cpu.stat, memory.stat. The value of `name`, if it is there.
Reading<std::int64_t> parse_flat_keyed(std::string_view text, std::string_view name);
/// io.stat: bytes read over all devices.
Reading<std::int64_t> parse_io_stat(std::string_view text);
/// blkio.throttle.io_service_bytes: bytes read over all devices.
Reading<std::int64_t> parse_blkio_bytes(std::string_view text);

/// One line of /proc/PID/mountinfo that mounts control groups.
struct CgroupMount {
  bool unified = false;
  std::string root;  // of the hierarchy, as mounted
  std::string point;
  std::string controllers;  // comma-separated; version 1
};
/// Nothing for lines that mount something else.
std::optional<CgroupMount> parse_cgroup_mount(std::string_view line);

}  // namespace unstarve::host
