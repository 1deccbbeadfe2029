#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_set>

#include "base/reading.h"
#include "host/host_files.h"
#include "host/procfs.h"

namespace unstarve::observe {

/// Sums over the processes of a job. Counters never fall, although processes end.
struct TreeReadings {
  std::int64_t user_ticks = 0;
  std::int64_t system_ticks = 0;
  std::int64_t busiest_ticks = 0;  // most that one process used since the last reading
  std::int64_t processes = 0;
  std::int64_t threads = 0;
  std::int64_t resident_pages = 0;
  std::int64_t block_io_ticks = 0;
};

/// Counters that cost more to read, summed over the processes since each was found. Absent when no
/// process of the job could be read, and with the reason.
enum class TreeCounter : std::uint8_t {
  kReadChars,
  kReadBytes,
  kWriteBytes,
  kCpuWaitNs,  // of each process's first thread
  kVoluntarySwitches,
  kInvoluntarySwitches,
};
inline constexpr std::size_t kTreeCounters = 6;
using TreeCounters = std::array<Reading<std::int64_t>, kTreeCounters>;

/// The processes that descend from a job's first one. A child whose parent died still belongs to
/// it once it was seen. Processes that live and die between two refreshes are missed; the CPU time
/// that a process used before it was found is left out, so that it does not appear as a peak.
class ProcessTree {
 public:
  ProcessTree(const host::HostFiles& files, std::int64_t root_pid);

  /// Looks for new processes: a listing of /proc, and one file per process never seen before.
  void refresh();
  /// One file per process of the job.
  TreeReadings read();
  /// Three files per process of the job.
  TreeCounters read_counters();

 private:
  struct Member {
    bool found = false;  // has been read once
    host::ProcessStat first;
    host::ProcessStat last;
    TreeCounters first_counters;
    TreeCounters last_counters;
  };
  bool read_member(std::int64_t pid, Member& member, std::int64_t& ticks_used);
  void add_descendants(std::map<std::int64_t, std::int64_t>& parent_of);
  void bury(const Member& member);

  const host::HostFiles& files_;
  std::map<std::int64_t, Member> members_;
  std::unordered_set<std::int64_t> others_;
  // What processes that ended had used.
  TreeReadings gone_;
  TreeCounters gone_counters_;
};

}  // namespace unstarve::observe
