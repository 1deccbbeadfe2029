#pragma once

#include <cstdint>
#include <vector>

#include "base/reading.h"
#include "base/result.h"
#include "predict/speedup.h"
#include "trace/timeline.h"

namespace unstarve::predict {

/// How a run went, its warm-up steps left out.
struct RunMeasurement {
  std::vector<double> steps_s;  // duration of each step
  double mean_step_s = 0;       // span / steps
  Reading<double> au = {};      // accelerator utilisation (MLPerf Storage): compute time / run time
  Reading<double> samples_per_s = {};  // images per second where samples are images
  trace::Interval span = {};           // from the end of the warm-up to the end of the last step
};

/// Measures the training process's steps (the process with the most).
/// Errors: kNotSupported when fewer than two steps are left after the warm-up.
Result<RunMeasurement> measure_run(const trace::Timeline& timeline, std::size_t warm_up_steps);

/// Old mean step time / new mean step time, with a 90 % interval by resampling the steps of both.
Speedup measured_speedup(const RunMeasurement& before, const RunMeasurement& after,
                         std::uint64_t seed = 1);

/// Whether the measured value lies in the predicted interval.
bool prediction_held(const Speedup& predicted, const Speedup& measured);

}  // namespace unstarve::predict
