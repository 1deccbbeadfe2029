#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/reading.h"
#include "predict/measurements.h"
#include "predict/resampling.h"
#include "predict/track_record.h"
#include "predict/what_if.h"
#include "predict/worker_calibration.h"

namespace unstarve::advise {

/// What one sample costs unstarve's loader.
struct LoaderCost {
  double sample_cpu_s = 0;  // of all threads
  double sample_bytes = 0;  // that are handed over
};

/// What a short measurement on this machine says, with the job's own files.
struct Calibration {
  std::optional<LoaderCost> folder;          // unstarve's loader on the folder
  std::optional<LoaderCost> cache;           // with a cache that holds a copy of each image
  double cache_fill_cpu_s = 0;               // a sample while that cache was filled
  std::optional<LoaderCost> shards;          // on shards packed from some of its images
  Reading<double> parallel_efficiency = {};  // what each core after the first adds, 0..1
  Reading<double> core_scaling = {};         // the same of code that stays in the nearest caches
  predict::Range freeing_s = {0, 0};         // to give the largest pageable tensor of a batch back
  int threads = 1;                           // as many as the process may use CPUs
  std::vector<std::string> remarks;          // what could not be measured, and why
};

/// What was measured beside the recording itself.
struct Measured {
  Reading<double> gpu_utilisation = {};  // of the monitor, for recordings without device records
  std::vector<predict::CpuReading> job_cpu = {};
  predict::CalibrationText workers = {};  // what the hook measured of worker processes
  Calibration calibration = {};
  std::map<std::string, predict::TrackRecord> past = {};  // of earlier predictions, by remedy
};

/// What a gain is predicted from.
struct PredictionBasis {
  predict::PipelineMeasurements pipeline;
  predict::MachineFacts machine;
  /// Where the model is trained on the CPU: cores that the training keeps busy while it does not
  /// wait, which loading competes for. Absent elsewhere.
  Reading<double> training_cores = {};
  bool waits_for_storage = false;  // the job's fetches, mostly, while CPUs are to spare
  bool waits_for_library = false;  // ... for threads that workers would not have (a tokenizer's)
  double steps_per_pass = 0;       // over the training data; 0: fewer than two passes were seen
  double bytes_per_step = 0;   // copied to the device: what a batch carries through shared memory
  double copies_per_step = 0;  // to the device; 0: none was seen
  Calibration calibration;     // empty where none was made
  predict::CalibrationText workers;  // the job's own batches in worker processes
  std::map<std::string, predict::TrackRecord> past;
};

}  // namespace unstarve::advise
