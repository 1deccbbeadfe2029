#pragma once

#include "base/reading.h"

namespace unstarve::examine {

/// What one configuration of the job was measured to do.
struct Measurement {
  double step_us = 0;  // one optimizer step, wall time
  Reading<double> au;  // accelerator utilisation, 0..1, see docs/metrics.md
  Reading<double> samples_per_s;
  Reading<double> cpu_cores;             // CPU seconds per second of the whole process tree
  Reading<double> gpu_utilization_mean;  // 0..1, as the driver reports it
};

}  // namespace unstarve::examine
