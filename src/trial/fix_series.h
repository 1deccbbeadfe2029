#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/installation.h"
#include "trial/trial.h"
#include "trial/trial_folder.h"

namespace unstarve::trial {

struct FixOptions {
  std::vector<std::string> command;
  std::string folder;                      // for the runs, one folder each
  double trial_seconds = 0;                // of each run after its first step; 0: to the job's end
  launch::Emulation* emulation = nullptr;  // the GPUs of all runs; none: the machine's
  isolation::IsolationWish isolation = {};
};

/// Runs the job as it is, then with each remedy that is advised and that the hook can apply without
/// a change of the job's source, in the order of their predicted gains; after each, the job without
/// it once more. A remedy that is faster than both of these runs is kept, and what is predicted to
/// help further is tried on top of it.
/// Errors: as run_trial() and isolation::Isolation::choose().
Result<TriedJob> run_fix_series(const launch::Installation& parts, const FixOptions& options,
                                TrialListener& listener);

}  // namespace unstarve::trial
