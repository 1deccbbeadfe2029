#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/terminal/terminal.h"
#include "runs/entries.h"

namespace unstarve::report {

/// A table of one line a run.
std::string runs_table(const std::vector<runs::ListedRun>& listed, const TextOptions& options);

/// What is known of one run. `folder`: by which the user named it.
std::string run_text(const runs::ListedRun& listed, const std::string& folder,
                     const TextOptions& options);

/// "running", "killed", "exit 1", "SIGKILL", ...
std::string state_words(const runs::ListedRun& listed);

/// The run's command as a shell takes it.
std::string command_text(const runs::RunSummary& run);

/// "waits for data": of a finding's cause, in a column. Its own name where it is not known.
std::string short_cause_words(std::string_view cause);

/// "83 % waits for data", "cannot be read", "-".
std::string verdict_words(const runs::CollectedRun& run);

/// "AU 41 %" where it was measured, else "idle 59 %", how long the GPU idled; "-".
std::string gpu_summary(const runs::RunSummary& run);

/// "2026-05-01 14:03", in local time; with `seconds` to the second. "?" where it is not known.
std::string local_time_text(std::int64_t wall_ns, bool seconds);

}  // namespace unstarve::report
