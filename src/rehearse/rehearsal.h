#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/reading.h"
#include "base/result.h"
#include "launch/emulation/emulation.h"
#include "launch/installation.h"
#include "predict/capacity/capacity.h"
#include "trial/trial.h"

namespace unstarve::rehearse {

/// What is asked of a rehearsal.
struct RehearsalOptions {
  std::vector<std::string> command;
  std::string folder;                    // of the run
  std::vector<std::string> kinds;        // profiles by name or file; the job runs on the first
  std::vector<int> gpus;                 // of one machine, ascending
  std::map<std::string, double> step_s;  // by kind: the step's known device time on a real one
  launch::EmulationOptions emulation;  // durations, scale and memory; `gpu` and `gpus` are not used
  double target_au = 0.9;              // 0..1
  double cores = 0;                    // of the machine that is asked about; 0: those of this one
  double seconds = 30;                 // of the run after its first step
  std::int64_t steps = 100;            // at most
  isolation::IsolationWish isolation = {};
};

/// How a kind's durations were had, in order of trust.
enum class DurationsBy { kStepTime, kTrace, kRoofline };
/// "step time", "trace", "roofline".
std::string_view to_string(DurationsBy by);

struct RehearsedKind {
  std::string name;         // as it was asked for
  std::string device_name;  // "NVIDIA H100 80GB HBM3"
  DurationsBy by = DurationsBy::kRoofline;
  double device_s = 0;                       // of a step
  Reading<double> memory_needed_ratio = {};  // what the job took of the run's GPU / what this has
};

/// A remedy where it would be applied.
struct RehearsedRemedy {
  std::string id;   // of advise's catalogue
  std::string how;  // the values: "num_workers=2"
  predict::Interval90 au;
};

/// The AU on so many cores, with the loader as it is.
struct AuOnCores {
  double cores = 0;
  double au = 0;
};

/// So many GPUs of one kind in this machine.
struct RehearsedCell {
  std::size_t kind = 0;  // index into Rehearsal::kinds
  int gpus = 1;
  predict::Forecast forecast;
  std::optional<predict::Interval90> cores_needed;  // none: no number of cores is enough
  int workers_needed = 0;                           // of each GPU
  Reading<double> storage_bytes_per_s_needed = {};  // read by all ranks together
  std::vector<AuOnCores> au_on_cores;               // ascending
  std::vector<RehearsedRemedy> remedies;            // those that raise the AU, the best first
};

/// What the one run showed that all else is computed from.
struct RehearsedRunFacts {
  std::string run_dir;
  std::size_t steps = 0;  // behind the warm-up
  double cores = 0;
  double cores_of_others = 0;  // of these, that other programs used
  double step_s = 0;
  double measured_au = 0;  // by the partition of the device's time
  int workers = 0;
  bool workers_repeat = false;  // each may give all of an iterable data set: more are no help
  double samples = 0;           // a step
  double fetch_cpu_s = 0;       // a step
  double host_cpu_s = 0;        // a step, of the training thread
  double misfit_ratio = 0;      // of the model against the run's step time
  Reading<double> read_bytes_per_sample = {};
  Reading<double> gradient_bytes = {};  // that GPUs would exchange
};

struct Rehearsal {
  double target_au = 0.9;
  double cores = 0;  // that the cells are computed for
  RehearsedRunFacts run;
  std::vector<RehearsedKind> kinds;
  std::vector<RehearsedCell> cells;  // by kind, then by the number of GPUs
  std::vector<std::string> notes;    // what could not be had
};

/// Runs the job once, on one emulated GPU of the first kind, watched; and computes from that what
/// AU its pipeline would reach on this machine with other kinds and more of them.
/// Errors: as run_trial(), Emulation::prepare() and predict::fit_pipeline(); kNotSupported where
/// the job's Python has no torch for CUDA, or the job used no GPU.
Result<Rehearsal> rehearse(const launch::Installation& parts, const RehearsalOptions& options,
                           trial::TrialListener& listener);

}  // namespace unstarve::rehearse
