#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "emulated/profile/profile.h"
#include "launch/emulation/state_folder.h"
#include "launch/installation.h"

namespace unstarve::launch {

/// What a job is to find in the place of GPUs.
struct EmulationOptions {
  /// A profile's name ("a100"), a profile's file, or a profiler's trace of a job on a real GPU,
  /// which gives the profile and the durations.
  std::string gpu = "a100";
  std::string durations{};  // a trace that gives the durations alone; empty: none
  int gpus = 1;
  double memory_gib = 0;  // of each GPU; 0: as the profile says
  double scale = 1;       // of every modelled duration
  /// Of single bytes (bools) that the job reads from its GPU, each N-th is 1; 0: all are 0.
  std::int64_t true_every = 0;
  double step_time_s = 0;  // what a step takes, by which the job finds a factor; 0: not known
  /// Kinds of GPU by name or file, at most 12, on which the job's kernels are priced as well.
  std::vector<std::string> priced{};
};

/// Emulated GPUs for one job after the other: its settings and the environment by which the job's
/// processes find them. No kernel is executed: work takes modelled time, results are zeros.
///
///   Result<Emulation> emulation = Emulation::prepare(parts, {.gpu = "a100"});
///   job.environment = emulation->environment();
///
/// What is shared between the job's processes goes with the object.
/// Thread rule: one thread.
class Emulation {
 public:
  /// Errors: kNotFound where there is no such profile or our libraries are not installed;
  /// kInvalidArgument or kCorruptData where a profile or trace cannot be read.
  static Result<Emulation> prepare(const Installation& parts, const EmulationOptions& options);

  /// Variables of the job.
  const std::vector<std::pair<std::string, std::string>>& environment() const {
    return environment_;
  }
  /// "1 x NVIDIA A100-SXM4-80GB".
  const std::string& devices() const { return devices_; }
  /// Where durations come from, and how far they can be trusted; a clause.
  const std::string& durations() const { return durations_; }
  /// What is behind durations, as a run keeps it (docs/formats/run.md): "roofline" where it is the
  /// data sheet alone, "recording", or "factor" where somebody knew better.
  const std::string& durations_from() const { return durations_from_; }
  double scale() const { return scale_; }
  double step_time_s() const { return step_time_s_; }  // 0: not known
  int gpus() const { return gpus_; }
  /// By which the GPUs are emulated.
  const emulated::Profile& profile() const { return profile_; }
  /// A recording of a real GPU gives some of them.
  bool durations_recorded() const { return durations_recorded_; }
  /// Where the job's processes write what they called and is not emulated, a line each.
  std::string log_file() const { return state_.path() + "/missing.log"; }
  const std::string& settings_file() const { return settings_file_; }
  StateFolder& state() { return state_; }
  const StateFolder& state() const { return state_; }

 private:
  explicit Emulation(StateFolder state) : state_(std::move(state)) {}
  StateFolder state_;
  int gpus_ = 0;
  std::string durations_from_;
  double scale_ = 1;
  double step_time_s_ = 0;
  emulated::Profile profile_;
  bool durations_recorded_ = false;
  std::string settings_file_;
  std::vector<std::pair<std::string, std::string>> environment_;
  std::string devices_;
  std::string durations_;
};

}  // namespace unstarve::launch
