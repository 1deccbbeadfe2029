#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "isolation/isolation.h"
#include "launch/emulation/emulation.h"
#include "launch/installation.h"
#include "launch/watching/observed_job.h"
#include "observe/outside/live_view.h"
#include "trial/trial.h"
#include "tune/levers/lever.h"
#include "tune/trials/journal.h"
#include "tune/trials/trials.h"

namespace unstarve::tune {

/// What all trials of a search have in common.
struct JobTrialsOptions {
  std::vector<std::string> command;
  std::vector<std::string> arguments = {};  // --arg
  std::string folder;                       // a folder each is made in it
  double trial_seconds = 0;                 // of each after its first step; 0: to the job's end
  double budget_s = 0;                      // 0: any time
  // Where only loaders are changed the job is watched as `unstarve run` does it, and its first run
  // measures what its workers cost.
  bool only_loaders = false;
  std::string after_signal = {};                    // how a search goes on that a signal ended
  launch::Emulation* emulation = nullptr;           // the GPUs; none: the machine's
  const isolation::Isolation* isolation = nullptr;  // none: trials write as the job does
  std::function<void(const trial::Trial&, const observe::LiveView&)> on_tick;
};

/// Runs the job in a fresh process for each trial; what a journal has already is not run again.
/// Thread rule: one thread.
class JobTrials final : public Trials {
 public:
  /// `journal`: null where none is kept.
  JobTrials(const launch::Installation& parts, JobTrialsOptions options, Journal* journal);

  /// The levers that requests name; they outlive this.
  void know(const std::vector<Lever>& levers) { levers_ = &levers; }
  Result<TrialResult> run(const TrialRequest& request) override;

 private:
  Result<TrialResult> run_job(const TrialRequest& request);
  Result<trial::Trial> trial_of(const TrialRequest& request,
                                const std::vector<const Lever*>& levers) const;
  /// What the hook is asked for, as its variable has it.
  std::string asked_of_hook(const TrialRequest& request,
                            const std::vector<const Lever*>& by_hook) const;
  /// Those of a kind take about as long.
  std::string kind_of(const TrialRequest& request) const;
  double expected_wall_s(const std::string& kind) const;
  std::vector<const Lever*> levers_of(const TrialRequest& request) const;

  const launch::Installation& parts_;
  JobTrialsOptions options_;
  Journal* journal_;
  const std::vector<Lever>* levers_ = nullptr;
  SteadyClock clock_;
  std::int64_t started_ns_;
  std::map<std::string, double> longest_wall_s_;  // by kind_of() the trial
  bool has_run_ = false;
};

/// `steps` as at most 200 means of neighbours: steps that follow each other are alike.
std::vector<double> in_groups(const std::vector<double>& steps);

}  // namespace unstarve::tune
