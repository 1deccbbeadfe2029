#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/reading.h"
#include "diagnose/errors/gpu_errors.h"
#include "diagnose/lines/code_time.h"
#include "diagnose/lines/library_time.h"
#include "diagnose/ranks/rank_comparison.h"
#include "diagnose/signals/host_signals.h"
#include "diagnose/signals/signals.h"
#include "job/set_aside.h"
#include "trace/timeline/timeline.h"

namespace unstarve::diagnose {

/// Shares of a span's wall time on one device; they sum to 1. Definitions: docs/partition.md.
struct Partition {
  double gpu_compute = 0;
  double exposed_communication = 0;
  double exposed_copy = 0;
  double input_wait = 0;
  double sync = 0;
  double launch = 0;
  double kernel_wait = 0;
  double other = 0;
};

/// How much of a span a device's activity was recorded in, where that is not all of it.
struct RecordedTime {
  double recorded_us = 0;
  std::int64_t windows = 0;   // that it is made of
  double steps = 0;           // that lie in it; one that lies there in part counts as that part
  double clock_error_us = 0;  // of operations against the host's clock: at most this
  Partition partition;        // of the recorded time
};

struct DeviceDiagnosis {
  trace::DeviceInfo info;
  double span_us = 0;
  double gpu_busy_ratio = 0;   // union of kernels, copies and memsets / recorded time
  double edge_busy_ratio = 0;  // of that, part of gpu_compute: at edges, with work not recorded
  Partition partition;         // of the span
  std::optional<RecordedTime> recorded = {};  // none: all of it
};

struct StepSummary {
  std::int64_t count = 0;
  Reading<double> mean_us = {};
  Reading<double> median_us = {};
  Reading<double> samples_per_s = {};                        // of the steps in which the job trains
  trace::StepSource source = trace::StepSource::kOptimizer;  // by what they are told
};

/// What the training thread does in a step, as the host alone sees it: shares of the steps' time
/// that sum to 1.
struct ThreadTime {
  double input_wait = 0;      // inside the data loader's `__iter__` and `__next__`
  Reading<double> sync = {};  // in calls that wait for the device; absent: no call was recorded
  double own_work = 0;        // the rest
};

struct CopySummary {
  std::int64_t h2d_bytes = 0;
  std::int64_t h2d_count = 0;
  Reading<double> pageable_ratio = {};  // by bytes; absent when the trace does not say (AMD)
};

enum class Confidence { kClear, kAmbiguous };

struct Finding {
  std::string cause;      // one of the partition's names, or "gpu_busy"
  std::string detail;     // one of design's details, or empty
  std::string work = {};  // of python_transform, what most of it is: "tokenizing"; or empty
  double share = 0;       // of wall time
  Confidence confidence = Confidence::kClear;
  std::vector<std::string> evidence;  // sentences with numbers
  /// Rules that spoke for it: the cause's, then its details by how much they explain.
  std::vector<std::string> reasons = {};
  /// The job's code in its time: of `input_wait` what its fetches do, of `sync` where the training
  /// thread blocks, of other idle time what that thread does meanwhile.
  CodeTime code = {};
  /// Of `sync`, what that thread does while the device then idles, other than train or wait again.
  CodeTime follows = {};
};

/// What holds for the measurement as a whole, beside what the job itself does.
struct Condition {
  std::string rule;                   // "busy_neighbour"
  std::vector<std::string> evidence;  // sentences with numbers; the first is what it says
};

/// What a rule of thumb says, beside the findings: it has no share of time.
struct Hint {
  std::string rule;         // "gpu_low_cpu_high"
  std::string says;         // one sentence with numbers
  std::string cannot_tell;  // what this signal leaves open
};

/// What a job does now and then and is known by name, behind the warm-up.
struct NamedEvent {
  trace::HostWorkKind kind = trace::HostWorkKind::kCollection;
  std::int64_t count = 0;
  double total_us = 0;  // that the host spent in it; 0 for what has no length
  double share = 0;     // of the span
  std::string place;    // "train.py:57"; empty: not known
};

/// A rule that could not speak, and why.
struct Abstention {
  std::string rule;
  std::string signal;
  WhyAbsent why = WhyAbsent::kNotObserved;
};

/// Why a GPU idles. What to do about it is for advise to say.
struct Diagnosis {
  trace::InputKind input = trace::InputKind::kKineto;
  std::string file;
  std::string run_id;  // empty unless input is a run
  std::vector<DeviceDiagnosis> devices;
  StepSummary steps;
  Reading<Partition> partition =
      {};  // of the worst device; absent when no GPU activity was recorded
  /// What GPUs ran where that says nothing of the job's time: then there is no partition.
  std::optional<job::SetAside> set_aside = {};
  Reading<ThreadTime> thread_time = {};  // absent without steps or without a loader's waits
  CodeTime own_code = {};                // of the training thread, outside of the loader
  LibraryTime fetch_libraries = {};      // whose compiled code fetches ran, in all processes
  double edge_other_ratio = 0;           // of the span, of `other`: at the edges of the recording
  CopySummary copies;
  RankComparison ranks;                   // where one is late, all else here is about that one
  std::vector<Finding> findings;          // by share, largest first
  std::vector<NamedEvent> events;         // by kind
  std::vector<GpuErrorGroup> gpu_errors;  // in the order in which they came
  LoggedGpu logged = {};                  // of a log of several GPUs: the one that is used least
  std::vector<Condition> conditions;
  std::vector<Hint> hints;
  std::vector<Abstention> abstentions;
  Signals signals;  // what all of it rests on
};

}  // namespace unstarve::diagnose
