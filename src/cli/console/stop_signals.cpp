#include "cli/console/stop_signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace unstarve::cli {

Result<StopSignals> StopSignals::open() {
  sigset_t ending;
  sigemptyset(&ending);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ending, signal);
  FileDescriptor file(::signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!file) return fail_errno(errno, "cannot wait for signals (signalfd)");
  if (const int failed = ::pthread_sigmask(SIG_BLOCK, &ending, nullptr); failed != 0) {
    return fail_errno(failed, "cannot hold signals back");
  }
  return StopSignals(std::move(file));
}

bool StopSignals::came() {
  signalfd_siginfo signal_info{};
  if (!came_) came_ = ::read(file_.get(), &signal_info, sizeof(signal_info)) == sizeof(signal_info);
  return came_;
}

}  // namespace unstarve::cli
