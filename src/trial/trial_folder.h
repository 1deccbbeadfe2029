#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "examine/examination.h"
#include "examine/history/trial_list.h"
#include "trial/verification.h"

namespace unstarve::trial {

/// A job as it is, and what became of it with each remedy that was tried.
struct TriedJob {
  examine::Examination before;
  std::vector<Verification> verification;  // in the order in which they were tried
};

/// Reads a folder of trials. Where `folder` is another run or a trace, nothing was tried.
Result<TriedJob> read_trials(const std::string& folder, const examine::ReadProgress& progress);

/// The runs that one trial is made of; `again` may be null. All were measured.
struct TrialRuns {
  const examine::Examination& base;     // whose advice the remedy is
  const examine::Examination& opening;  // the same setting, run before the remedy
  const examine::Examination& after;
  const examine::Examination* again = nullptr;  // the same setting, run after it
};

/// Runs of a folder of trials, each examined once.
class ExaminedTrials {
 public:
  /// `before`: the run that the others are compared with. It outlives this.
  ExaminedTrials(std::string folder, examine::Examination& before)
      : folder_(std::move(folder)), before_(before) {}

  /// Null where there is none that was measured.
  examine::Examination* find(const std::string& label);
  /// Recordings are large: all others than that run are read again when they are asked for.
  void forget_all_but(const std::string& label);
  /// None where one of its runs cannot be read any more.
  std::optional<Verification> verified(const examine::ListedTrial& trial);

 private:
  std::string folder_;
  examine::Examination& before_;
  std::map<std::string, std::optional<examine::Examination>> examined_;
};

/// Compares, and says whether the prediction held.
Verification verify(const TrialRuns& runs, const std::string& remedy, const std::string& how);

/// Puts in its place what whoever made the runs found, who may have made more of them.
void settle(Verification& tried, const predict::Speedup& measured, Outcome outcome);

/// What was promised of one change is promised of it as it is written. Of several on top of each
/// other nothing was predicted together.
void inherit_prediction(const std::vector<Verification>& tried, Verification& written);

/// Keeps findings and predictions, beside what was measured of them, in the store of the run, for
/// whoever shows it again or queries it.
Status store_results(const TriedJob& job);

}  // namespace unstarve::trial
