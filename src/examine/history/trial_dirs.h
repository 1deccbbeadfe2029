#pragma once

#include <string>

namespace unstarve::examine {

/// The run that the others of a folder are compared with.
inline constexpr const char* kBefore = "before";

/// The run with what was kept written into the job's script, and nothing else.
inline constexpr const char* kAsWritten = "as_written";

/// Where the run with one remedy, or kBefore, lies in a folder of trials.
std::string trial_dir(const std::string& folder, const std::string& label);

/// Whether `folder` is that of a run.
bool holds_run(const std::string& folder);

/// Whether `folder` is one of `run --fix` or `demo`: one run per trial, the first of them kBefore.
bool holds_trials(const std::string& folder);

}  // namespace unstarve::examine
