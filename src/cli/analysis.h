#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/recorded/hook_text.h"
#include "diagnose/diagnose.h"
#include "job/job_view.h"
#include "predict/verification.h"
#include "report/report_model.h"
#include "trace/run_reader.h"
#include "trace/timeline.h"

namespace unstarve::cli {

/// A timeline and the views of it, which hold on to each other.
struct Recording {
  explicit Recording(trace::Timeline recorded)
      : timeline(std::move(recorded)), job(timeline), partitioned(job) {}
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  trace::Timeline timeline;
  job::JobView job;
  diagnose::PartitionedJob partitioned;
};

/// Everything that is known of one run or trace.
struct Analysis {
  explicit Analysis(trace::Timeline timeline)
      : recording(std::make_unique<const Recording>(std::move(timeline))) {}

  std::unique_ptr<const Recording> recording;
  diagnose::HostSignals host;
  diagnose::Diagnosis diagnosis;
  std::optional<predict::RunMeasurement> measured;  // none: too few steps
  report::Measurement measurement;
  report::Series utilization;  // of the GPU, seconds since the run began; empty for traces
  report::RunFacts facts;
  std::vector<report::Fact> own_cost;
  std::vector<std::string> remarks;  // what could not be read
  HookText hook;
};

/// Reads a run directory and diagnoses it.
Result<Analysis> analyse_run(const std::string& path);

/// Reads a trace that somebody else recorded and diagnoses it. `show_progress` says on stderr how
/// far it is when that takes over a second.
Result<Analysis> analyse_trace(const std::string& path, bool show_progress);

/// A run where `path` is a folder or a run.sqlite, else a trace.
Result<Analysis> analyse(const std::string& path, bool show_progress);

/// Whether the job's data set is one that unstarve's loader can read by itself.
bool is_image_folder(const Analysis& analysis);

/// What text and HTML show of it.
report::Report to_report(const Analysis& analysis);

}  // namespace unstarve::cli
