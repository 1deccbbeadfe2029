#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cli/options/command.h"
#include "cli/options/command_line.h"
#include "launch/emulation/emulation.h"
#include "launch/emulation/emulation_use.h"

namespace unstarve::cli {

inline constexpr int kMostGpus = 64;  // of an emulated machine

/// Names the GPU that `run` and `emulate` emulate where nobody says one: for CI.
inline constexpr const char* kEmulateVariable = "UNSTARVE_EMULATE";

/// What UNSTARVE_EMULATE says; empty: nothing.
std::string emulated_by_default();

/// --gpus, --memory, --durations, --scale and --step-time, which both commands have.
void add_emulation_options(Command& command, launch::EmulationOptions& options);

/// Makes the emulation for a command and says on stderr what is emulated, what its results are and
/// where durations come from, and what the command lacks.
Result<launch::Emulation> begin_emulation(const CommandContext& context,
                                          const launch::EmulationOptions& options,
                                          const std::vector<std::string>& command);

/// Follows a job on emulated GPUs and says what there is to say of it on stderr.
/// Thread rule: one thread.
class EmulationNotes {
 public:
  /// How far a real GPU is from a roofline's durations: a report has it already, where one follows.
  enum class Range : std::uint8_t { kSaid, kInReport };

  /// `emulation` outlives it.
  EmulationNotes(const launch::Emulation& emulation, Range range)
      : emulation_(emulation), range_(range), counted_(emulation) {}

  /// While the job runs: says which step was found, warns of a loop that may never end.
  /// `progress`: its steps and batches so far, where they are seen.
  void update(std::optional<std::int64_t> progress = {});
  /// After it: what it did on the GPUs, what durations came from, what was missing.
  void finish();

 private:
  void say_step(const launch::EmulationUse& use);

  const launch::Emulation& emulation_;
  Range range_;
  bool step_said_ = false;
  launch::UseReader counted_;
  launch::LoopWatch loop_;
  SteadyClock clock_;
};

}  // namespace unstarve::cli
