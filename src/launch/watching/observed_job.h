#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "isolation/isolation.h"
#include "launch/emulation/emulation.h"
#include "launch/installation.h"
#include "observe/outside/job_process.h"
#include "observe/outside/live_view.h"
#include "observe/outside/sampler.h"

namespace unstarve::launch {

struct ObservedJobOptions {
  std::vector<std::string> command;
  std::string run_dir;     // made by us; must not hold a run yet
  std::string stage = {};  // of several runs that belong together (trial/stages); empty: of none
  std::vector<std::pair<std::string, std::string>> environment;  // more variables for the job
  Emulation* emulation = nullptr;  // the job's GPUs, which are watched then; none: the machine's
  bool own_process_group = false;
  /// The job is a trial that leaves nothing behind; none: it writes where it writes.
  const isolation::Isolation* isolation = nullptr;
  std::vector<isolation::FileChange> changes = {};  // to files of the job, as that trial finds them
  std::string output_file;  // the job's stdout and stderr go there; empty: they are ours
  /// Called about four times a second while the job runs. Returning false asks the job to stop
  /// (SIGINT, then SIGTERM after `patience_ns`). One of a process group of its own or in isolation
  /// is killed with all its descendants after as long again.
  std::function<bool(const observe::LiveView&)> on_tick;
  std::int64_t patience_ns = 10'000'000'000;  // from each of these to the next
};

struct ObservedJob {
  observe::JobExit exit;
  observe::ObservationReport watching;
  bool stopped_by_us = false;  // on_tick asked for it
  bool killed = false;         // it went on after SIGINT and SIGTERM
  std::size_t left_over = 0;   // processes of a trial that lived longer than it, and were killed
  /// Of a trial: why it had to end, as isolation::IsolatedTrial::check() says.
  std::optional<Error> stopped_for;
  std::vector<std::string> read_only;  // folders, in isolation
  /// Why there was nothing to watch; no run is left then. kNotFound or kNoPermission, as shells
  /// say by 127 and 126, where the command is not there or is no program.
  std::optional<Error> not_started;
};

/// Runs a command to its end while watching it, and leaves a finished run in `run_dir`.
/// Errors: the folder cannot be made, or the isolation, and the job was not started; or it could
/// not be watched.
/// A job that fails, or cannot be started, is no error: see ObservedJob.
Result<ObservedJob> run_observed(const Installation& parts, const ObservedJobOptions& options);

struct AttachOptions {
  pid_t pid = 0;
  std::string run_dir;  // made by us; must not hold a run yet
  int leave_fd = -1;    // watching ends when nothing more can be read from it; -1: none
  /// Called once the folder is there and the process is watched.
  std::function<void()> on_watching;
};

/// Watches a process that runs already and leaves a finished run in `run_dir`. It ends with the
/// process, when `leave_fd` closes, or by SIGINT or SIGTERM to us; the process is left alone. What
/// happens inside it is seen as far as its own hook writes rings into `run_dir`.
/// Errors: kNotFound where there is no such process; the folder cannot be made.
Result<observe::ObservationReport> watch_process(const Installation& parts,
                                                 const AttachOptions& options);

}  // namespace unstarve::launch
