#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "advise/advice.h"
#include "advise/job_facts.h"
#include "advise/parts/prediction_basis.h"
#include "base/result.h"
#include "cost/usage/usage.h"
#include "diagnose/diagnose.h"
#include "examine/imported/read_progress.h"
#include "examine/measurement.h"
#include "job/job_view.h"
#include "predict/measurements.h"
#include "predict/verification.h"
#include "predict/worker_calibration.h"
#include "roofline/position/position.h"
#include "trace/job_gpu.h"
#include "trace/timeline/timeline.h"

namespace unstarve::examine {

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

/// What the hook did of what it was asked to change of a loader.
struct FixAnswer {
  bool applied = false;
  std::string refused;  // why it did not
  std::string limited;  // why a loader got less than was asked for
};

/// A run or a trace: read, diagnosed and advised on.
struct Examination {
  explicit Examination(trace::Timeline timeline)
      : recording(std::make_unique<const Recording>(std::move(timeline))) {}

  std::unique_ptr<const Recording> recording;
  diagnose::Diagnosis diagnosis;
  advise::JobFacts job;
  advise::Predictions predictions;
  advise::Advice advice;                            // with these predictions
  std::optional<predict::RunMeasurement> measured;  // none: too few steps
  trace::Interval observed = {};                    // of a run: what its signals are taken over
  trace::JobGpu gpu = {};                           // of a run: the one that it speaks of
  Measurement measurement;
  std::vector<std::string> remarks;          // what could not be read or measured
  bool failed = false;                       // the job of a run, which ended otherwise than by 0
  std::string framework;                     // without PyTorch: "JAX", "TensorFlow"; else empty
  std::string no_steps;                      // of a run without a step: why; one of the remarks
  std::string run_dir;                       // empty: a trace
  predict::CalibrationText workers;          // what the hook measured of worker processes
  std::vector<predict::CpuReading> job_cpu;  // of a run: while it was observed
  FixAnswer fix;
  std::optional<roofline::Position> position;  // of a run, under this machine's roofs
  cost::Usage usage;                           // what it took of its machine
};

/// Reads a run directory and diagnoses it. Predictions are those that its store keeps, made with
/// what was measured then; none where it keeps none.
Result<Examination> examine_run(const std::string& path);

/// Reads a trace, an export or a log that somebody else recorded and diagnoses it.
Result<Examination> examine_trace(const std::string& path, const ReadProgress& progress);

/// A run where `path` is a folder or a run.sqlite, of a folder of trials the run that the others
/// are compared with, else a trace. Gains are predicted from the recording alone where none are
/// kept.
Result<Examination> examine(const std::string& path, const ReadProgress& progress);

/// Predicts what the remedies would gain, with what was measured on this machine, and advises anew.
void predict(Examination& examined, const advise::Calibration& calibration);

}  // namespace unstarve::examine
