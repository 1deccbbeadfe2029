#pragma once

#include <string>

#include "base/reading.h"
#include "diagnose/diagnosis.h"
#include "predict/speedup.h"

namespace unstarve::trial {

/// What one configuration of the job was measured to do.
struct Measurement {
  double step_us = 0;  // one optimizer step, wall time
  Reading<double> au;  // accelerator utilisation, 0..1, see docs/metrics.md
  Reading<double> images_per_s;
  Reading<double> cpu_cores;             // CPU seconds per second of the whole process tree
  Reading<double> gpu_utilization_mean;  // 0..1, as the driver reports it
};

/// A remedy that was tried: what was promised, what came of it.
struct Verification {
  std::string remedy;  // id, as in the catalogue
  std::string how;     // what was changed, one sentence
  Reading<predict::Speedup> predicted;
  predict::Speedup measured;
  bool held = false;  // the measured speed-up lies in the predicted interval
  Measurement before;
  Measurement after;
  Reading<diagnose::Partition> partition_after;
  std::string run_dir = {};  // of the run with the remedy
};

}  // namespace unstarve::trial
