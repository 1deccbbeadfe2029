#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/reading.h"
#include "trace/store/process_record.h"
#include "trace/timeline/timeline.h"

namespace unstarve::trace {

/// What the hook said in words of one loader; empty where it said nothing.
struct LoaderWords {
  std::string place;  // where the job makes it: "train.py:41"
  DataSet data;
  std::string iterated_at = {};  // where the job takes its batches
};

/// The beginning of a step in a trace of torch.profiler, between two readings of CLOCK_MONOTONIC.
struct StepMark {
  std::int64_t step = 0;  // N of ProfilerStep#N
  std::int64_t before_ns = 0;
  std::int64_t after_ns = 0;
};

/// The window of torch.profiler that the hook opened.
struct ProfileText {
  std::string file;  // in the run directory; empty: none was written
  std::vector<StepMark> marks;
  Interval interruption = {};  // in which it was written
};

/// The floating-point operations of one step, where they were counted (`unstarve run --flops`).
struct FlopText {
  std::map<std::string, double> by_dtype;  // "float32", "tf32", "bfloat16", ...; none: not counted
  std::int64_t step = -1;
  Reading<std::int64_t> samples = {};       // in that step
  std::string device;                       // "cuda", "cpu"
  Reading<double> operand_bytes = {};       // of its operators, each operand once
  Reading<double> beyond_cache_bytes = {};  // of these, what its caches cannot hold
  Reading<double> cache_bytes = {};         // of the GPU's L2, or of all of the CPU's caches
  Reading<std::int64_t> threads = {};       // by which torch computes an operator on the CPU
  std::vector<std::string> not_counted;     // operators that multiply, or may
  bool compiled = false;                    // parts were compiled, whose own kernels are not seen
  std::string refused;                      // why they were not counted
};

/// The exception that ended a process of Python; all empty where none did.
struct ErrorText {
  std::string kind;     // "torch.OutOfMemoryError"
  std::string message;  // its beginning, on one line
  std::string place;    // in the job's code: "train.py:57"
};

/// What the hook said in words of one process (docs/formats/run.md).
struct HookText {
  std::string directory;  // in which the job's process started; places are below it
  LoaderWords first_loader;
  std::map<std::int64_t, LoaderWords> loaders;  // by id; empty where they did not fit
  std::map<std::int64_t, bool> fetches_draw;    // random numbers, by a loader's id
  bool data_left_out = false;                   // its path is too long for a ring's text
  bool fix_applied = false;                     // it changed a loader as UNSTARVE_FIX asked
  std::string fix_refused;                      // why it left one alone; empty when it did not
  std::string fix_limited;  // why one got less than was asked for; empty when none did
  ProfileText profile;
  FlopText flops;
  std::string cpu_mask;                       // hexadecimal: the CPUs that it may use
  TrainingDevice device;                      // that it trains on; without the process
  std::int64_t rank = -1;                     // of a distributed job; -1: it is none of such
  std::int64_t ranks = 0;                     // that job's number of them
  Reading<std::int64_t> gradient_bytes = {};  // of the parameters that are trained
  std::map<std::int64_t, std::string> host_work_places;  // by kind: "train.py:57"
  ErrorText ended_by;
};

/// `text` may hold anything: what is not as expected counts as not said.
HookText parse_hook_text(std::string_view text);

/// What the process that trains said, as it said it; of several the last with a loader. Empty where
/// none said anything.
std::string text_of_training(const std::vector<ProcessRecord>& processes);

/// Of the errors that ended processes the first, from which those of others follow.
ErrorText first_error(const std::vector<ProcessRecord>& processes);

/// Gives each loader of `timeline` its words.
void add_loader_words(const std::vector<ProcessRecord>& processes, Timeline& timeline);

/// Gives `timeline` the places of host work.
void add_host_work_places(const std::vector<ProcessRecord>& processes, Timeline& timeline);

/// Gives `timeline` the CPUs that its loaders' worker processes may use.
void add_worker_cpus(const std::vector<ProcessRecord>& processes, Timeline& timeline);

/// Gives `timeline` the devices that processes said they train on, and which ranks they are.
void add_training_devices(const std::vector<ProcessRecord>& processes, Timeline& timeline);

}  // namespace unstarve::trace
