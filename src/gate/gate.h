#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "compare/comparison.h"
#include "cost/rates/rates.h"
#include "gate/baseline/baseline.h"
#include "gate/judging/judgement.h"
#include "isolation/isolation.h"
#include "launch/emulation/emulation.h"
#include "launch/installation.h"
#include "trial/trial.h"

namespace unstarve::gate {

struct GateOptions {
  std::vector<std::string> command;
  std::string base;    // a git reference, or the path of a baseline
  std::string folder;  // absolute: each run gets a folder in it
  JudgingOptions judging;
  double seconds = 8;   // of each run after its first step, unless its step is known before
  double budget_s = 0;  // in which no further runs begin; 0: any time
  launch::Emulation* emulation = nullptr;
  std::string emulated_gpu;  // its name
  isolation::IsolationWish isolation;
  cost::Rates rates = cost::default_rates();
};

struct GateResult {
  Judgement judgement;
  /// Of all runs: A is the base, B the job as it is now. A baseline keeps nothing of costs.
  compare::Comparison comparison;
  std::string base;                 // in words: "main (3f2a91c)", "a baseline of 2026-05-01"
  bool compared = true;             // false: the base was recorded on another machine or GPU
  std::vector<std::string> unlike;  // in which ways, as comparison.differences has them
  JudgingOptions judging;
  bool budget_spent = false;
};

/// Told what a gate does.
class GateListener : public trial::TrialListener {
 public:
  /// After each pair of runs, or each run beside a baseline.
  virtual void judged(const Judgement& /*judgement*/, int /*runs*/) {}
};

/// Runs the job as it is and as it was by turns, in fresh processes, until what their runs say
/// decides, or runs or time are used up. Both first run for some steps that do not count.
/// Errors: kNotFound and kCorruptData of a base; kJobFailed, with which side it was; those of
/// trial::run_trial().
Result<GateResult> gate(const launch::Installation& parts, const GateOptions& options,
                        GateListener& listener);

/// Runs the job `runs` times and makes a baseline of that. Where one is at options.base already,
/// its acceptances stay in it. `when`: today, as it is to stand there.
struct NewBaseline {
  std::string reason;
  std::string when;
  int runs = 6;
};
Result<Baseline> make_baseline(const launch::Installation& parts, const GateOptions& options,
                               const NewBaseline& wish, GateListener& listener);

}  // namespace unstarve::gate
