#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace unstarve::isolation {

/// By what the processes of a trial are known, whoever is their parent by now.
struct TrialMarks {
  std::string run_dir;          // as UNSTARVE_RUN_DIR has it; what a process started with
  std::string mount_namespace;  // as /proc/PID/ns/mnt names it; empty: not one of its own
  pid_t group = 0;              // of processes; 0: none
};

/// How /proc names the mount namespace of a process; empty where it is gone.
std::string mount_namespace_of(pid_t pid);

std::vector<pid_t> processes_of(const TrialMarks& marks);

/// Kills them all and those that they start meanwhile, and waits until they are gone: five seconds
/// at most. Returns how many there were.
std::size_t kill_processes_of(const TrialMarks& marks);

}  // namespace unstarve::isolation
