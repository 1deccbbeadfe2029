#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "trial/emulation/emulation.h"

namespace unstarve::cli {

/// Names the GPU that `run` and `emulate` emulate where nobody says one: for CI.
inline constexpr const char* kEmulateVariable = "UNSTARVE_EMULATE";

/// What UNSTARVE_EMULATE says; empty: nothing.
std::string emulated_by_default();

/// --gpus, --memory and --scale, which both commands have.
void add_emulation_options(CLI::App& command, trial::EmulationOptions& options);

/// Makes the emulation for a command and says on stderr what is emulated, what its results are and
/// where durations come from, and what the command lacks.
Result<trial::Emulation> begin_emulation(const CommandContext& context,
                                         const trial::EmulationOptions& options,
                                         const std::vector<std::string>& command);

/// Says what the job did on the emulated GPUs.
void say_what_was_emulated(const trial::Emulation& emulation, double wall_s);

}  // namespace unstarve::cli
