#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/recorded/hook_text.h"
#include "diagnose/diagnose.h"
#include "predict/verification.h"
#include "report/report_model.h"
#include "trace/run_reader.h"
#include "trace/timeline.h"

namespace unstarve::cli {

/// Everything that is known of one run or trace.
struct Analysis {
  trace::Timeline timeline;
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

/// The first step holds imports, start-up and the first fill of the queues, as in MLPerf's AU.
inline constexpr std::size_t kWarmUpSteps = 1;

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
