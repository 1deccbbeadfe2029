#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/reading.h"
#include "base/result.h"
#include "report/model/report_model.h"
#include "trace/store/run_rows.h"

namespace unstarve::sink {

/// The run that all the rest is of. Times of samples and steps count from `started_ns`.
struct RunStart {
  std::string run_id;
  std::string run_dir;
  std::string host;
  std::string unstarve_version;  // that watches it
  std::vector<std::string> command;
  std::int64_t started_ns = 0;         // CLOCK_MONOTONIC
  std::int64_t started_wall_ns = 0;    // since 1970, UTC
  bool is_emulated = false;            // its GPUs are
  std::vector<std::string> gpu_uuids;  // "GPU-..." of gpu0, gpu1, ...; empty texts: not known
  /// What the cluster's scheduler says of the job, by name: "scheduler" ("slurm"), "job", "step",
  /// "user", "account". Empty: the job was started by none that is known.
  std::map<std::string, std::string> scheduler;
};

/// What one metric was at one moment.
struct Sample {
  const trace::MetricRow& metric;
  std::int64_t t_ns = 0;
  Reading<double> value;
};

struct RunEnd {
  std::int64_t ended_ns = 0;
  Reading<std::int64_t> exit_code;  // absent: a signal ended the job
  std::int64_t exit_signal = 0;     // 0: none did
};

/// Takes what a run shows, in this order: its start; samples, steps, waits and the like, as they
/// were stored, until its end; its end; its verdict; and that this was all. A sink overrides what
/// it wants. An error ends the handing over. Thread rule: one thread at a time.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual Status begins(const RunStart& /*run*/) { return {}; }
  virtual Status takes(const Sample& /*sample*/) { return {}; }
  virtual Status takes(const trace::StepRow& /*step*/) { return {}; }
  /// A call of a loader's `next()`.
  virtual Status takes(const trace::WaitRow& /*wait*/) { return {}; }
  /// A call that waits for the GPU.
  virtual Status takes(const trace::SyncRow& /*sync*/) { return {}; }
  /// Work of the host that is known by name: a checkpoint, a compilation.
  virtual Status takes(const trace::HostWorkRow& /*work*/) { return {}; }
  virtual Status ends(const RunEnd& /*end*/) { return {}; }
  /// Whether there is to be a verdict, for which all of the run is read and diagnosed.
  virtual bool wants_verdict() const { return false; }
  virtual Status takes(const report::Report& /*verdict*/) { return {}; }
  /// After each portion of the above: what was taken is to be where it belongs.
  virtual Status flush() { return {}; }
  /// Once, behind everything else, also where the run goes on and nobody follows it further.
  virtual Status finish() { return {}; }
};

/// A kind of sink, as the command line names it.
struct SinkKind {
  std::string name;  // "jsonl"
  std::string what;  // for the help, a few words
  /// `target`: a file, or "-" for standard output; of some kinds a folder (`what` says it).
  Result<std::unique_ptr<Sink>> (*open)(const std::string& target) = nullptr;
};

/// Every kind there is. A new one is a file in kinds/ that defines `SinkKind NAME_sink()`; the
/// build writes this function.
std::vector<SinkKind> sink_kinds();

}  // namespace unstarve::sink
