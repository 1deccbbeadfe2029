#pragma once

#include <sys/types.h>

namespace unstarve::observe {

/// A process group that ends when we die, however that happens: it is led by a child of ours that
/// sleeps until then, so that it is guarded before the first job joins it. For jobs that are only
/// tried; nobody would end them after a SIGKILL of ours.
class GroupGuard {
 public:
  /// Forks; the calling thread has to outlive the group.
  GroupGuard();
  GroupGuard(const GroupGuard&) = delete;
  GroupGuard& operator=(const GroupGuard&) = delete;
  ~GroupGuard();

  /// What a job joins; 0 where no child could be had: a job then makes a group that nobody guards.
  pid_t group() const { return pid_ > 0 ? pid_ : 0; }

 private:
  pid_t pid_ = -1;
};

}  // namespace unstarve::observe
