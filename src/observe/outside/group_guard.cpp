#include "observe/outside/group_guard.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace unstarve::observe {

namespace {

/// The guard's whole life. Only calls that are allowed after a fork.
[[noreturn]] void guard(pid_t parent) {
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
  ::prctl(PR_SET_NAME, "unstarve-guard");
  ::setpgid(0, 0);
  // Out of the reach of whoever waits for the end of what we print.
  ::syscall(SYS_close_range, 0U, ~0U, 0U);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  sigset_t death;
  sigemptyset(&death);
  sigaddset(&death, SIGTERM);
  while (::getppid() == parent) ::sigwaitinfo(&death, nullptr);
  ::kill(0, SIGKILL);
  ::_exit(0);
}

}  // namespace

GroupGuard::GroupGuard() {
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) guard(parent);
  // Both of us make the group: whoever comes first.
  if (pid_ > 0) ::setpgid(pid_, pid_);
}

GroupGuard::~GroupGuard() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace unstarve::observe
