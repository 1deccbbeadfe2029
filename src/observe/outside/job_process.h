#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "host/child_entry.h"

namespace unstarve::observe {

struct JobOptions {
  /// The command and its arguments, looked up in PATH as a shell would.
  std::vector<std::string> command{};
  /// The run directory, given to the job as UNSTARVE_RUN_DIR; empty: not given.
  std::string run_dir{};
  /// Folder with the Python hook, put before the job's own PYTHONPATH; empty: no hook.
  std::string hook_dir{};
  /// More variables for the job; an entry replaces a variable of the same name.
  std::vector<std::pair<std::string, std::string>> environment{};
  /// False: the job shares our process group, so that Ctrl-C and Ctrl-Z in a terminal reach it as
  /// if we were not there. True (trials): a group of its own, which request_stop() reaches whole.
  bool own_process_group = false;
  /// What the child does before it becomes the command; none: nothing.
  ChildEntry enter{};
};

/// How a job ended.
struct JobExit {
  int exit_code = 0;             // its own, or 128 + signal
  std::optional<int> signal;     // that killed it
  std::optional<int> told;       // the last signal that was meant to end us while it ran
  std::int64_t user_cpu_ns = 0;  // of the job and of those of its children that it waited for
  std::int64_t system_cpu_ns = 0;
};

/// The user's command as a child process that does not notice us: its stdin, stdout, stderr and
/// terminal are ours, its signals and its exit code its own. It survives our death, unless it has a
/// process group of its own, which dies with us.
///
///   Result<JobProcess> job = JobProcess::start({.command = {"python", "train.py"}});
///   Result<JobExit> end = job->wait();
///
/// Signals: from start() until the object is gone, SIGINT, SIGQUIT, SIGTERM, SIGHUP and SIGCHLD
/// are blocked in the calling thread (threads made later inherit that) and taken by wait():
/// what the terminal or somebody sends to the whole process group is left to the job, what is sent
/// to us alone is sent on to it. Either way the job has it: one that lives on although a signal to
/// the group would have ended it gets it from us.
/// Thread rule: one thread, the main one, before others are started.
class JobProcess {
 public:
  /// kNotFound or kNoPermission when the command cannot be started; shells say 127 or 126 then.
  /// kNotSupported where `enter` failed.
  static Result<JobProcess> start(const JobOptions& options);
  JobProcess(JobProcess&&) noexcept;
  JobProcess& operator=(JobProcess&&) noexcept;
  /// Does not end the job.
  ~JobProcess();

  pid_t pid() const;
  /// Waits until the job has ended, sending signals on to it meanwhile. Grandchildren that live
  /// longer are not waited for.
  Result<JobExit> wait();
  /// As wait(), but for at most `timeout_ns`; nothing when the job still runs then.
  Result<std::optional<JobExit>> wait_for(std::int64_t timeout_ns);
  /// Sends `signal` (SIGINT: as Ctrl-C would) to the job, or to its group if it has its own: also
  /// to what is left of that when the job has ended.
  Status request_stop(int signal);

 private:
  struct Impl;
  explicit JobProcess(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// The environment that a job gets: ours, changed as `options` say. In `NAME=value` form.
std::vector<std::string> job_environment(const JobOptions& options, const char* const* ours);

}  // namespace unstarve::observe
