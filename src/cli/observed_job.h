#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/installation.h"
#include "observe/outside/job_process.h"
#include "observe/outside/live_view.h"
#include "observe/outside/sampler.h"

namespace unstarve::cli {

struct ObservedJobOptions {
  std::vector<std::string> command;
  std::string run_dir;  // made by us; must not hold a run yet
  std::vector<std::pair<std::string, std::string>> environment;  // more variables for the job
  bool emulated = false;  // watch the emulated GPU even where there is a real one
  bool own_process_group = false;
  std::string output_file;  // the job's stdout and stderr go there; empty: they are ours
  /// Called about four times a second while the job runs. Returning false asks the job to stop
  /// (SIGINT, then SIGTERM after ten seconds).
  std::function<bool(const observe::LiveView&)> on_tick;
};

struct ObservedJob {
  observe::JobExit exit;
  observe::ObservationReport watching;
  bool stopped_by_us = false;  // on_tick asked for it
};

/// Runs a command to its end while watching it, and leaves a finished run in `run_dir`.
/// Errors: the folder cannot be made, or the command cannot be started (kNotFound, kNoPermission).
/// A job that fails is no error: see ObservedJob::exit.
Result<ObservedJob> run_observed(const Installation& parts, const ObservedJobOptions& options);

/// Whether the driver of a real GPU answers here. Where none does, every GPU that is seen is
/// emulated.
bool has_real_gpu();

/// A name for a run: the local time and the script's name, "2026-05-01_14-03-22_train".
std::string make_run_id(const std::vector<std::string>& command);

}  // namespace unstarve::cli
