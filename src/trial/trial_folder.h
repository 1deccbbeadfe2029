#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "trial/examination.h"
#include "trial/verification.h"

namespace unstarve::trial {

/// The run that the others of a folder are compared with.
inline constexpr const char* kBefore = "before";

/// The run with what was kept written into the job's script, and nothing else.
inline constexpr const char* kAsWritten = "as_written";

/// Where the run with one remedy, or kBefore, lies in a folder of trials.
std::string trial_dir(const std::string& folder, const std::string& label);

/// Whether `folder` is one of `run --fix` or `demo`: one run per trial, the first of them kBefore.
bool holds_trials(const std::string& folder);

/// A job as it is, and what became of it with each remedy that was tried.
struct TriedJob {
  Examination before;
  std::vector<Verification> verification;  // in the order in which they were tried
};

/// Reads a folder of trials. Where `folder` is another run or a trace, nothing was tried.
Result<TriedJob> read_trials(const std::string& folder, const ReadProgress& progress);

/// The runs that one trial is made of; `again` may be null. All were measured.
struct TrialRuns {
  const Examination& base;     // whose advice the remedy is
  const Examination& opening;  // the same setting, run before the remedy
  const Examination& after;
  const Examination* again = nullptr;  // the same setting, run after it
};

/// Compares, and says whether the prediction held.
Verification verify(const TrialRuns& runs, const std::string& remedy, const std::string& how);

/// What was promised of one change is promised of it as it is written. Of several on top of each
/// other nothing was predicted together.
void inherit_prediction(const std::vector<Verification>& tried, Verification& written);

/// Keeps findings and predictions, beside what was measured of them, in the store of the run, for
/// whoever shows it again or queries it.
Status store_results(const TriedJob& job);

}  // namespace unstarve::trial
