#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_set>
#include <vector>

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

/// Counters that cost more to read, summed over the processes that lived when they were read.
/// Absent when no process of the job could be read, and with the reason.
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

/// CPU time of processes, in ticks.
struct CpuTicks {
  std::int64_t user = 0;
  std::int64_t system = 0;
};

/// The processes that descend from a job's first one. A child whose parent died still belongs to
/// it once it was seen. All of a process's CPU time counts that began after the first reading, also
/// of those that live and die between two readings: their parents' counters have it once they wait
/// for them. Where nobody waits (SIGCHLD ignored), such a process is missed.
class ProcessTree {
 public:
  ProcessTree(const host::HostFiles& files, std::int64_t root_pid);

  /// One file per process of the job and one per new process of the machine, and a listing of
  /// /proc: each time, or each fifth time where it is long.
  TreeReadings read();
  /// Three files per process of the job.
  TreeCounters read_counters();

 private:
  struct Member {
    bool found = false;    // has been read once
    bool newborn = false;  // began after the listing before: all that it used is the job's
    host::ProcessStat first;
    host::ProcessStat last;
    CpuTicks reaped_members;  // what members that it waited for had used in their lives
    CpuTicks reaped_unseen;   // what it waited for beside them since `first`; never falls
    TreeCounters first_counters;
    TreeCounters last_counters;
  };
  void refresh();
  bool read_member(std::int64_t pid, Member& member, std::int64_t& ticks_used);
  void begin_member(Member& member, const host::ProcessStat& stat);
  void add_descendants(std::map<std::int64_t, host::ProcessStat>& unknown);
  void bury(const std::vector<std::int64_t>& dead);
  void add_unseen(Member& member);
  CpuTicks pay_late();

  const host::HostFiles& files_;
  std::map<std::int64_t, Member> members_;
  // The members' numbers, parents before their children. Files are read in this order: a parent's
  // counter never has a child whose own file is read after it.
  std::vector<std::int64_t> parents_first_;
  std::unordered_set<std::int64_t> others_;
  std::int64_t youngest_ticks_ = 0;  // latest start of the processes that were ever listed
  std::int64_t readings_per_listing_ = 1;
  std::int64_t readings_until_listing_ = 0;
  CpuTicks late_;  // used before it was found, and not told yet
  // What processes that ended had used.
  TreeReadings gone_;
  TreeCounters gone_counters_;
};

}  // namespace unstarve::observe
