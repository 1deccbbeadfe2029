#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/unique_handle.h"

namespace unstarve::observe {

/// Tells a signal that was sent to our whole process group, and so to the job as well, from one
/// that was sent to us alone and has to be passed on: a sleeping child in our group, which tells
/// us what it got. A job that got the same signal twice would take the second one for impatience
/// and not save its checkpoint. The witness dies with us.
///
/// It goes by the job's name and command line, not by ours: `pkill -f train.py` means all of us,
/// `pkill unstarve` us alone.
class GroupWitness {
 public:
  /// Before any thread is started: it forks. A witness that cannot be had has seen nothing.
  explicit GroupWitness(const std::vector<std::string>& command);
  GroupWitness(const GroupWitness&) = delete;
  GroupWitness& operator=(const GroupWitness&) = delete;
  ~GroupWitness();

  /// Whether the witness got `signal` too; waits for it for a few milliseconds. Each signal is
  /// told once.
  bool saw(int signal);

 private:
  pid_t pid_ = -1;
  FileDescriptor told_;
};

/// Whether `process` runs on although `signal` would have ended it: the signal was never sent to
/// it, whatever others saw. Only of a process that neither handles, ignores nor blocks it.
bool never_arrived(pid_t process, int signal);

}  // namespace unstarve::observe
