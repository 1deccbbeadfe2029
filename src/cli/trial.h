#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/analysis.h"
#include "cli/installation.h"
#include "predict/speedup.h"
#include "report/report_model.h"

namespace unstarve::cli {

/// One run of the job with one remedy applied, or none.
struct Trial {
  std::string label;  // "before", or the remedy's id
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string run_dir;
  bool emulated = false;
  double stop_after_s = 0;  // after the first step; 0: runs to its end
};

/// Runs it, watching, with the job's output in RUN/output.log and a live line on stderr, and
/// analyses what was recorded.
/// Errors: kCancelled when a signal told us to end, which the job then was told as well (`told` is
/// that signal); kJobFailed when the job exits with anything but 0 (and was not stopped by us),
/// with the end of its output in the message; kNotSupported when it made too few steps to be
/// measured.
Result<Analysis> run_trial(const Installation& parts, const Trial& trial, std::optional<int>& told);

/// Compares a remedy's run with the run before, and says whether its prediction held.
report::Verification verify(const Analysis& before, const Analysis& after,
                            const std::string& remedy, const std::string& how);

/// The prediction made for `remedy` in `diagnosis`; absent when there is none.
Reading<predict::Speedup> prediction_of(const diagnose::Diagnosis& diagnosis,
                                        const std::string& remedy);

/// What was tried besides the run that was diagnosed.
struct Tried {
  std::vector<report::Verification> verification;
  std::vector<report::Series> curves;
};

/// The diagnosed run with what was tried, as text and page show it.
report::Report to_report(const Analysis& before, const Tried& tried);

/// Whether `folder` is one of `run --fix` or `demo`: one run per trial, the first of them "before".
bool holds_trials(const std::string& folder);

/// What a folder of trials says: the run before, with the predictions that were made then, and what
/// became of each remedy.
struct TriedRun {
  Analysis before;
  Tried tried;
};
Result<TriedRun> analyse_trials(const std::string& folder);

/// Keeps findings and predictions in the run's store, for whoever queries it.
Status store_results(const std::string& run_dir, const diagnose::Diagnosis& diagnosis,
                     const std::vector<report::Verification>& verification);

}  // namespace unstarve::cli
