#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/emulation/emulation.h"
#include "observe/outside/job_process.h"

namespace unstarve::launch {

struct EmulatedJobOptions {
  std::vector<std::string> command;
  double limit_s = 0;  // from its start until it is asked to stop; 0: none
  /// Called about once a second while the job runs.
  std::function<void()> on_tick;
};

struct EmulatedJob {
  observe::JobExit exit;
  bool limit_reached = false;
  double wall_s = 0;
  /// As ObservedJob::not_started.
  std::optional<Error> not_started;
};

/// Runs a command to its end on emulated GPUs, without watching it. At its limit the job gets
/// SIGINT, ten seconds later SIGTERM, and ten seconds later SIGKILL, with all that it started.
/// Errors: it could not be waited for.
Result<EmulatedJob> run_emulated(Emulation& emulation, const EmulatedJobOptions& options);

}  // namespace unstarve::launch
