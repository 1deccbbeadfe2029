#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/emulation/emulation.h"
#include "launch/installation.h"
#include "observe/outside/live_view.h"
#include "trial/trial.h"
#include "tune/search.h"

namespace unstarve::tune {

struct TuneOptions {
  std::vector<std::string> command;    // with `resume`: what the journal says
  std::vector<std::string> arguments;  // NAME=--OPTION, NAME=Class.argument
  std::vector<std::string> only;       // levers by name; empty: all
  std::vector<std::string> allowed;    // levers that fetch code
  std::string folder;                  // for the trials and their journal
  bool resume = false;                 // the folder has a journal: go on with that search
  double budget_s = 600;
  double trial_seconds = 8;  // of each after its first step
  int parity_steps = 0;      // whose losses are recorded; 0: as many as two trials take
  launch::Emulation* emulation = nullptr;
  isolation::IsolationWish isolation = {};  // with `resume`: what the journal says
  std::string gpu;                          // what that emulates, for a search that goes on
  std::function<void(const trial::Trial&, const observe::LiveView&)> on_tick;
};

/// Which GPU the search in `folder` emulates; empty: none. Errors: those of the journal.
Result<std::string> emulated_by(const std::string& folder);

/// Runs the job again and again with levers and without, and says which are worth it.
/// Errors: kInvalidArgument, those of search(), of the journal and of
/// isolation::Isolation::choose().
Result<TuneResult> tune(const launch::Installation& parts, const TuneOptions& options,
                        SearchListener& listener);

}  // namespace unstarve::tune
