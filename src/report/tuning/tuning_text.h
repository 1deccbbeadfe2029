#pragma once

#include <string>

#include "report/terminal/terminal.h"
#include "tune/result/tune_result.h"

namespace unstarve::report {

/// The table of levers, what was kept, and what makes it permanent.
std::string render_tuning(const tune::TuneResult& result, const TextOptions& options);

/// The job's command with what of that is kept which stands in it or in its environment, for a
/// shell; empty: nothing does.
std::string kept_command(const tune::KeptCommand& command);

/// What was kept as settings of the trainer that the job uses; empty where it uses none.
std::string kept_settings(const tune::TuneResult& result);

/// What came of a trial, for progress: "41.30 ms a step", "79 losses and the first gradient",
/// "out_of_memory".
std::string trial_words(const tune::TrialResult& trial);

/// "bf16_autocast: 1.31x [1.28..1.34], kept: faster, same results", for progress.
std::string lever_sentence(const tune::LeverResult& lever);

/// "the job differs by 1.2 % between two runs as it is".
std::string noise_sentence(double noise_ratio);

/// "memory_cache is not tried: the diagnosis of this run does not advise it".
std::string left_out_sentence(const tune::LeverResult& lever);

/// What is kept as a diff of the script, which lies in the file at `path`; empty where there is
/// none.
std::string render_patch(const tune::ScriptPatch& patch, const std::string& path,
                         const TextOptions& options);

}  // namespace unstarve::report
