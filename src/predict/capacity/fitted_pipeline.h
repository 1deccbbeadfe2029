#pragma once

#include <vector>

#include "base/reading.h"
#include "base/result.h"
#include "predict/capacity/rank_model.h"
#include "predict/measurements.h"

namespace unstarve::predict {

/// What one watched run of one training process says.
struct RehearsedRun {
  PipelineMeasurements pipeline;
  double cores = 1;                          // that its threads may use
  double cores_of_others = 0;                // of these, that other programs used meanwhile
  Reading<double> cpu_s_per_step = {};       // CPU time of all its processes
  Reading<double> read_bytes_per_step = {};  // by read(): of files, mostly
};

/// The pipeline model of a run, with what cannot be measured directly fitted so that simulating the
/// run gives the run.
struct FittedPipeline {
  RankModel model;               // of the run itself, with all of its cores
  std::vector<StepCost> steps;   // CPU seconds, of a thread with a core to itself
  std::vector<double> copies_s;  // of each step's device_s: copies to the device
  double samples = 0;            // a step
  double fetch_cpu_s = 0;        // a step, with what handing a batch over takes
  double host_cpu_s = 0;         // a step, of the training thread
  double misfit_ratio = 0;       // (simulated - measured) / measured step time
};

/// Errors: kNotSupported where the run has fewer than five steps or does not say what a batch takes
/// to make.
Result<FittedPipeline> fit_pipeline(const RehearsedRun& run);

}  // namespace unstarve::predict
