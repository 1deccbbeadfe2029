#include "observe/outside/job_process.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/unique_handle.h"
#include "observe/outside/group_guard.h"
#include "observe/outside/group_witness.h"

namespace unstarve::observe {

namespace {

/// In which a job that a signal ends is surely gone, or has at least begun to die.
constexpr std::int64_t kTimeToDieNs = 300'000'000;

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&set, signal);
  return set;
}

std::vector<char*> as_argv(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::int64_t nanoseconds(const timeval& time) {
  return time.tv_sec * 1'000'000'000LL + time.tv_usec * 1'000LL;
}

std::int64_t steady_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

tl::unexpected<Error> fail_start(int os_errno, const std::string& command) {
  switch (os_errno) {
    case ENOENT:
      if (command.ends_with(".py") && ::access(command.c_str(), R_OK) == 0) {
        return fail(ErrorCode::kNotFound,
                    "cannot start '{}': it is a script, which an interpreter starts: python {}",
                    command, command);
      }
      return fail(ErrorCode::kNotFound,
                  "cannot start '{}': no such command or file; check the spelling, and PATH",
                  command);
    case EACCES:
    case EISDIR:
      return fail(ErrorCode::kNoPermission,
                  "cannot start '{}': it is not an executable file; try `chmod +x`, or put its "
                  "interpreter before it (python {})",
                  command, command);
    default: return fail_errno(os_errno, fmt::format("cannot start '{}'", command));
  }
}

/// What a job is started as. With a group that is not ours (0: one that it leads) it is ended by
/// SIGINT, which it does not ignore even where we do, as shells have what they start with `&`: it
/// took 10 s to end then.
struct Start {
  std::vector<std::string> command;
  std::vector<std::string> environment;
  sigset_t mask{};
  std::optional<pid_t> group;
};

/// By posix_spawnp.
int spawn(Start& start, pid_t* pid) {
  posix_spawnattr_t attributes;
  if (const int failed = posix_spawnattr_init(&attributes); failed != 0) return failed;
  int flags = POSIX_SPAWN_SETSIGMASK;
  if (start.group) flags |= POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF;
  sigset_t heard;
  sigemptyset(&heard);
  sigaddset(&heard, SIGINT);
  posix_spawnattr_setsigdefault(&attributes, &heard);
  posix_spawnattr_setsigmask(&attributes, &start.mask);
  posix_spawnattr_setpgroup(&attributes, start.group.value_or(0));
  posix_spawnattr_setflags(&attributes, static_cast<short>(flags));
  const std::vector<char*> argv = as_argv(start.command);
  const std::vector<char*> envp = as_argv(start.environment);
  const int failed = ::posix_spawnp(pid, argv[0], nullptr, &attributes, argv.data(), envp.data());
  posix_spawnattr_destroy(&attributes);
  return failed;
}

/// As spawn(), in a child of fork() that enters first. `entered`: what that failed of.
int spawn_entered(Start& start, const ChildEntry& enter, pid_t* pid, ChildFailure* entered) {
  const std::vector<char*> argv = as_argv(start.command);
  const std::vector<char*> envp = as_argv(start.environment);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno;
  const FileDescriptor from_child(ends[0]);
  FileDescriptor to_us(ends[1]);
  *pid = ::fork();
  if (*pid < 0) return errno;
  if (*pid == 0) {
    if (start.group) {
      ::setpgid(0, *start.group);
      ::signal(SIGINT, SIG_DFL);
    }
    ::sigprocmask(SIG_SETMASK, &start.mask, nullptr);
    ChildFailure failure = enter();
    const bool is_in = failure.os_errno == 0;
    if (is_in) {
      ::execvpe(argv[0], argv.data(), envp.data());
      failure.os_errno = errno;
    }
    static_cast<void>(!::write(to_us.get(), &failure, sizeof(failure)));
    ::_exit(is_in ? 1 : 2);
  }
  to_us.reset();
  ChildFailure failure;
  ssize_t got = 0;
  do {
    got = ::read(from_child.get(), &failure, sizeof(failure));
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof(failure))) return 0;  // it has become the command
  int status = 0;
  while (::waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
  }
  const bool is_in = WIFEXITED(status) && WEXITSTATUS(status) == 1;
  if (!is_in) *entered = failure;
  return failure.os_errno;
}

}  // namespace

struct JobProcess::Impl {
  pid_t pid = -1;
  bool own_group = false;
  pid_t group = 0;  // of its own, that somebody else leads; 0: it leads it
  sigset_t mask_before{};
  FileDescriptor signals;
  std::optional<GroupWitness> witness;
  std::optional<GroupGuard> guard;  // of a group of its own, until the job has ended
  std::optional<int> told;          // the last signal that was meant to end us
  std::int64_t look_again_ns = 0;   // whether the job has it; 0: there is no doubt
  std::optional<JobExit> ended;

  ~Impl() {
    // A signal that came after the job's end was meant for the two of us and has done its work;
    // left pending it would kill us, before the verdict, the moment it is unblocked.
    if (signals) take_signals(false);
    pthread_sigmask(SIG_SETMASK, &mask_before, nullptr);
  }

  void take_signals(bool pass_on) {
    signalfd_siginfo info;
    while (::read(signals.get(), &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
      const auto signal = static_cast<int>(info.ssi_signo);
      if (!pass_on || signal == SIGCHLD || ended) continue;
      told = signal;
      // The witness is asked in any case: what it saw now must not answer for a later signal.
      const bool group_has_it = witness && witness->saw(signal) && is_in_our_group();
      // SI_KERNEL: typed in the terminal, whose whole foreground group has it.
      const bool job_has_it = !own_group && (group_has_it || info.ssi_code == SI_KERNEL);
      if (!job_has_it) {
        ::kill(receiver(), signal);
      } else if (info.ssi_code != SI_KERNEL) {
        look_again_ns = steady_ns() + kTimeToDieNs;
      }
    }
  }

  /// Of signals, as kill(2) has it: the job, or all of a group of its own.
  pid_t receiver() const { return own_group ? -(group > 0 ? group : pid) : pid; }

  /// A job that made a group of its own gets nothing that is sent to ours.
  bool is_in_our_group() const { return ::getpgid(pid) == ::getpgrp(); }

  /// Somebody may have sent a signal to each of us but the job; the job would have died of it.
  void look_again() {
    if (look_again_ns == 0 || steady_ns() < look_again_ns) return;
    look_again_ns = 0;
    if (never_arrived(pid, *told)) ::kill(pid, *told);
  }

  /// Takes the job's end if it has come.
  Status reap() {
    int status = 0;
    rusage usage{};
    const pid_t got = ::wait4(pid, &status, WNOHANG, &usage);
    if (got == 0 || (got < 0 && errno == EINTR)) return {};
    if (got < 0) return fail_errno(errno, fmt::format("cannot wait for the job (pid {})", pid));
    JobExit end;
    if (WIFSIGNALED(status)) {
      end.signal = WTERMSIG(status);
      end.exit_code = 128 + WTERMSIG(status);
    } else {
      end.exit_code = WEXITSTATUS(status);
    }
    end.told = told;
    end.user_cpu_ns = nanoseconds(usage.ru_utime);
    end.system_cpu_ns = nanoseconds(usage.ru_stime);
    ended = end;
    guard.reset();
    return {};
  }
};

JobProcess::JobProcess(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
JobProcess::JobProcess(JobProcess&&) noexcept = default;
JobProcess& JobProcess::operator=(JobProcess&&) noexcept = default;
JobProcess::~JobProcess() = default;

Result<JobProcess> JobProcess::start(const JobOptions& options) {
  if (options.command.empty()) {
    return fail(ErrorCode::kInvalidArgument, "no command to run; give one after `--`");
  }
  auto impl = std::make_unique<Impl>();
  impl->own_group = options.own_process_group;
  const sigset_t watched = watched_signals();
  pthread_sigmask(SIG_BLOCK, &watched, &impl->mask_before);
  impl->signals.reset(::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!impl->signals) return fail_errno(errno, "cannot take signals for the job (signalfd)");
  // Whoever started us may have ignored SIGCHLD; the exit code would be thrown away then.
  struct sigaction children {};
  ::sigaction(SIGCHLD, nullptr, &children);
  if (children.sa_handler == SIG_IGN) ::signal(SIGCHLD, SIG_DFL);

  if (!impl->own_group) impl->witness.emplace(options.command);

  Start start = {options.command, job_environment(options, environ), impl->mask_before, {}};
  if (impl->own_group) start.group = impl->group = impl->guard.emplace().group();
  ChildFailure entered;
  const auto try_start = [&] {
    return options.enter ? spawn_entered(start, options.enter, &impl->pid, &entered)
                         : spawn(start, &impl->pid);
  };
  int failed = try_start();
  if (failed == ENOEXEC && !options.enter) {
    // A script without a #! line: shells run it themselves, so do we; so does execvpe().
    start.command.insert(start.command.begin(), "/bin/sh");
    failed = try_start();
  }
  if (entered.os_errno != 0) {
    return fail(ErrorCode::kNotSupported, "{}: {}", entered.what, ::strerror(entered.os_errno));
  }
  if (failed != 0) return fail_start(failed, options.command[0]);
  return JobProcess(std::move(impl));
}

pid_t JobProcess::pid() const { return impl_->pid; }

Result<JobExit> JobProcess::wait() {
  while (true) {
    Result<std::optional<JobExit>> end = wait_for(3'600'000'000'000LL);
    if (!end) return forward_error(end);
    if (*end) return **end;
  }
}

Result<std::optional<JobExit>> JobProcess::wait_for(std::int64_t timeout_ns) {
  const std::int64_t deadline_ns = steady_ns() + timeout_ns;
  while (true) {
    // In this order: a SIGCHLD taken after the look would be one that nobody looks for again.
    impl_->take_signals(true);
    if (const Status reaped = impl_->reap(); !reaped) return forward_error(reaped);
    if (impl_->ended) return impl_->ended;
    impl_->look_again();
    const std::int64_t now_ns = steady_ns();
    if (now_ns >= deadline_ns) return std::optional<JobExit>();
    std::int64_t left_ns = deadline_ns - now_ns;
    if (impl_->look_again_ns != 0) left_ns = std::min(left_ns, impl_->look_again_ns - now_ns);
    pollfd wanted{impl_->signals.get(), POLLIN, 0};
    const std::int64_t left_ms = std::min<std::int64_t>(left_ns / 1'000'000 + 1, 60'000);
    if (::poll(&wanted, 1, static_cast<int>(left_ms)) < 0 && errno != EINTR) {
      return fail_errno(errno, "cannot wait for the job's signals");
    }
  }
}

Status JobProcess::request_stop(int signal) {
  if (impl_->ended && !impl_->own_group) return {};
  if (::kill(impl_->receiver(), signal) != 0 && errno != ESRCH) {
    return fail_errno(errno, fmt::format("cannot stop the job (pid {})", impl_->pid));
  }
  return {};
}

}  // namespace unstarve::observe
