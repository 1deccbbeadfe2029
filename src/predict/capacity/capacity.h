#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/reading.h"
#include "predict/capacity/fitted_pipeline.h"
#include "predict/resampling.h"

namespace unstarve::predict {

/// A kind of GPU against the one that the pipeline was fitted on.
struct DeviceKind {
  double compute_ratio = 1;       // duration of the step's kernels / there
  double copy_ratio = 1;          // the same of copies to the device
  Range duration_error = {1, 1};  // what all of them may be off by, as a factor
  double link_bytes_per_s = 0;    // between GPUs; 0: exchanges take no time
  std::int64_t link_latency_ns = 0;
};

/// A machine that is asked about.
struct Placement {
  DeviceKind kind = {};
  int gpus = 1;
  double cores = 1;
  double gradient_bytes = 0;  // that GPUs exchange a step
};

/// A way of loading other than the job's own.
struct OtherLoader {
  LoaderModel loader = {};            // of each rank
  Reading<double> sample_cpu_s = {};  // absent: the job's own fetches
  double transport_cpu_s = 0;         // a batch, where they had none in worker processes
};

/// A value with its 90 % interval.
struct Interval90 {
  double value = 0;
  double low = 0;
  double high = 0;
};

struct Forecast {
  /// Accelerator utilisation, 0..1: the step as it would be with batches that cost nothing and a
  /// core for each thread, by the step as it is.
  Interval90 au;
  Interval90 step_s;
  double step_without_waiting_s = 0;  // with batches that cost nothing
};

struct CapacityOptions {
  int resamples = 60;
  std::uint64_t seed = 1;
};

/// What AU the pipeline reaches there. `other`: nullptr, or the loader in its own one's place.
Forecast forecast(const FittedPipeline& fitted, const Placement& where, const OtherLoader* other,
                  const CapacityOptions& options);

/// How many cores like this machine's it takes for an AU of `target` (0..1) with as many workers as
/// help. Nothing where no number of cores is enough.
std::optional<Interval90> cores_needed(const FittedPipeline& fitted, const Placement& where,
                                       double target, const CapacityOptions& options);

/// Workers of each GPU that make batches as fast as an AU of `target` takes them, each with a core.
int workers_needed(const FittedPipeline& fitted, const Forecast& forecast, double target);

}  // namespace unstarve::predict
