#pragma once

#include <sys/types.h>

namespace unstarve::observe {

/// Ends a process group when we die, however that happens: a child that sleeps until then. For jobs
/// that are only tried; nobody would end them after a SIGKILL of ours.
class GroupGuard {
 public:
  /// Forks; the calling thread has to outlive the group. A guard that cannot be had guards nothing.
  explicit GroupGuard(pid_t group);
  GroupGuard(const GroupGuard&) = delete;
  GroupGuard& operator=(const GroupGuard&) = delete;
  ~GroupGuard();

 private:
  pid_t pid_ = -1;
};

}  // namespace unstarve::observe
