#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "isolation/isolation.h"
#include "launch/emulation/emulation.h"
#include "launch/installation.h"
#include "trial/trial.h"
#include "trial/trial_folder.h"
#include "tune/result/tune_result.h"

namespace unstarve::tune {

struct FixOptions {
  std::vector<std::string> command;
  std::string folder;                      // for the runs, one folder each
  double trial_seconds = 0;                // of each run after its first step; 0: to the job's end
  double budget_s = 0;                     // no run begins after so long; 0: any time
  launch::Emulation* emulation = nullptr;  // the GPUs of all runs; none: the machine's
  isolation::IsolationWish isolation = {};
};

/// Told what fix() does, beside what trials tell.
class FixListener : public trial::TrialListener {
 public:
  virtual void noise(double /*noise_ratio*/) {}
  /// Nothing that `job`, the job as it is, is advised can be tried.
  virtual void has_nothing_to_try(const examine::Examination& /*job*/) {}
  /// Why a remedy (or examine::kAsWritten) was not tried, not measured, or after all is not kept.
  virtual void left_out(const LeverResult& /*entry*/) {}
};

/// A search() among the remedies that the runs' own diagnoses advise and that the hook can apply
/// without a change of the job's source: the best prediction first, each on top of what is kept,
/// whose run is diagnosed anew. Last, the script with what is kept in it and nothing else.
/// Errors: as search() and isolation::Isolation::choose().
Result<trial::TriedJob> fix(const launch::Installation& parts, const FixOptions& options,
                            FixListener& listener);

}  // namespace unstarve::tune
