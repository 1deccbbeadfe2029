#include "observe/outside/group_witness.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace unstarve::observe {

namespace {

/// A signal to a group is put on every member before kill() returns, so the witness has it when we
/// have; what is waited for is only its turn on a CPU.
constexpr int kPatienceMs = 50;

/// The witness's whole life. Only calls that are allowed after a fork.
[[noreturn]] void watch(int tell, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
  ::prctl(PR_SET_NAME, "unstarve-signal");
  sigset_t watched;
  sigemptyset(&watched);
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) sigaddset(&watched, signal);
  while (true) {
    const int signal = ::sigwaitinfo(&watched, nullptr);
    if (signal < 0) continue;  // interrupted, by a stop and its continuation for example
    const char number = static_cast<char>(signal);
    if (::write(tell, &number, 1) != 1) ::_exit(0);
  }
}

}  // namespace

GroupWitness::GroupWitness() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
  told_.reset(ends[0]);
  FileDescriptor tell(ends[1]);
  const pid_t parent = ::getpid();
  // The signals are blocked already: the child inherits that, so none is lost or kills it.
  pid_ = ::fork();
  if (pid_ == 0) watch(tell.get(), parent);
}

GroupWitness::~GroupWitness() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool GroupWitness::saw(int signal) {
  if (pid_ <= 0) return false;
  pollfd wanted{told_.get(), POLLIN, 0};
  while (::poll(&wanted, 1, kPatienceMs) > 0) {
    char number = 0;
    if (::read(told_.get(), &number, 1) != 1) return false;
    if (number == static_cast<char>(signal)) return true;
  }
  return false;
}

}  // namespace unstarve::observe
