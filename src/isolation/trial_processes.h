#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/unique_handle.h"

namespace unstarve::isolation {

/// By what the processes of a trial are known, whoever is their parent by now.
struct TrialMarks {
  std::string run_dir;                  // as UNSTARVE_RUN_DIR has it; what a process started with
  FileDescriptor mount_namespace = {};  // none: not one of its own
  pid_t group = 0;                      // of processes; 0: none
};

/// The mount namespace of a process; none where that is gone. As long as it is open the kernel
/// gives its number to no other: of one that is closed the next namespace on the machine gets it,
/// another trial's or a container's.
FileDescriptor open_mount_namespace(pid_t pid);

std::vector<pid_t> processes_of(const TrialMarks& marks);

/// Kills them all and those that they start meanwhile, and waits until they are gone: five seconds
/// at most. Returns how many there were.
std::size_t kill_processes_of(const TrialMarks& marks);

}  // namespace unstarve::isolation
