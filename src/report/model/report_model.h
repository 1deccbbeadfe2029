#pragma once

#include <optional>
#include <string>
#include <vector>

#include "advise/advice.h"
#include "base/reading.h"
#include "cost/cost.h"
#include "diagnose/diagnosis/diagnosis.h"
#include "diagnose/partition/over_time.h"
#include "examine/stages/stages.h"
#include "roofline/position/position.h"
#include "trace/text/hook_text.h"
#include "trial/verification.h"

namespace unstarve::report {

using examine::Measurement;
using trial::Verification;

/// A curve of ratios 0..1 over time, for example GPU utilisation before a fix. Points whose value
/// is not finite are gaps. `t_s` ascends and has as many entries as `value`.
struct Series {
  std::string label;  // "before", or the id of the remedy
  std::vector<double> t_s;
  std::vector<double> value;
  Reading<double> training_from_s = {};   // on the same clock; absent: not known
  Reading<double> training_until_s = {};  // likewise: when the last step ended
};

/// A stretch of a run, in seconds since it began.
struct Stretch {
  double start_s = 0;
  double end_s = 0;
};

/// When something took place in the run that was diagnosed.
struct Track {
  std::string label;
  std::string kind;  // for its colour: a cause of the partition, "step", "work", "failure", ...
  std::string said;  // what it holds, in words
  std::vector<Stretch> stretches;  // by start
  bool by_length = false;          // each is drawn as high as it is long
};

/// A name and a value that are shown side by side: a version, an overhead.
struct Fact {
  std::string name;
  std::string value;
};

/// What a long run holds whole; of the rest it has totals (docs/formats/run.md).
struct KeptPart {
  std::int64_t one_slot_of = 1;  // 1: all
  double slot_s = 0;
  std::int64_t steps = 0;             // of those that were seen
  std::int64_t windows_left_out = 0;  // of those in which the GPU was recorded
};

/// Where and how the run took place. Empty strings and absent readings are left out of the page.
struct RunFacts {
  std::string command;  // as typed
  std::string folder;   // that places in the job's code are named from; empty: not known
  /// Of the job's script, where places are not named from `folder` on: "/home/me/job". Or empty.
  std::string script_folder;
  std::string loaders;  // " at train.py:41 (iterated at train.py:50)": of that which is waited for
  std::string started;  // date and time, as a person reads it
  std::string host;
  std::string device;  // name, without the word "emulated"
  bool emulated = false;
  /// Of an emulated one: "roofline", "recording" or "factor" (docs/formats/run.md).
  std::string emulated_durations;
  Reading<double> duration_s;
  Reading<double> first_asked_s;  // from its start until it asked a loader for its first batch
  /// How the job ended; absent: it runs, or what watched it was killed.
  Reading<std::int64_t> exit_code;
  std::string exit_signal;     // that ended it: "SIGSEGV"; empty: none did
  bool stopped_by_us = false;  // it was a trial, which had been watched for long enough
  trace::ErrorText error;      // that a job which failed ended by, where Python reported one
  bool attached = false;       // a part of a process was watched, which had begun before
  std::int64_t steps = 0;      // that were seen of it, the warm-up's too
  std::string framework;       // of a job without PyTorch: "JAX"; empty: it has that, or none known
  /// Of a job without a single step, what was not seen of it and why; a sentence.
  std::string no_steps;
  /// Which GPUs are in MIG mode, and what that means for their readings; sentences.
  std::string mig;
  /// What of a run's GPU activity is missing, and what that means; a sentence.
  std::string losses;
  KeptPart kept = {};
  std::vector<Fact> versions;
  std::vector<Fact> scheduler = {};  // "job", "user", ...: what the cluster's says of it
};

/// Everything that text and HTML show. The JSON is made of the first three alone.
struct Report {
  diagnose::Diagnosis diagnosis;
  advise::Advice advice;
  std::vector<Verification> verification;
  std::vector<Series> utilization;          // of the GPU; the first is the run that was diagnosed
  std::vector<Track> tracks = {};           // of that run
  diagnose::PartitionOverTime shares = {};  // likewise; its span on the clock of `tracks`, in ns
  Reading<double> training_from_s = {};     // likewise: see Series
  std::vector<Fact> own_cost;               // what watching cost, in words and numbers
  RunFacts facts;
  /// Where this is one run of several that belong together: all of them, as they began. The one
  /// that is reported is the longest.
  std::vector<examine::Stage> stages = {};
  std::optional<roofline::Position> position = {};  // of a run; none: it has no steps
  std::optional<cost::Cost> cost = {};              // none: nobody asked
};

}  // namespace unstarve::report
