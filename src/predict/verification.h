#pragma once

#include <cstdint>
#include <vector>

#include "base/reading.h"
#include "base/result.h"
#include "job/job_view.h"
#include "predict/speedup.h"

namespace unstarve::predict {

/// How a run's training went: without its warm-up, and without steps that hold an evaluation.
struct RunMeasurement {
  std::vector<double> steps_s;        // duration of each step
  std::vector<trace::Interval> when;  // of each of these
  double mean_step_s = 0;
  Reading<double> au = {};  // accelerator utilisation (MLPerf Storage): compute time / run time
  Reading<double> samples_per_s = {};  // images per second where samples are images
  // In a step whose batch is whole: a pass over the data may end with a short one. Absent where
  // batches are of many sizes, or nobody said them.
  Reading<double> samples_of_full_step = {};
  // That a pass over the data has, of the passes that another one followed; the median.
  Reading<double> steps_of_pass = {};
  trace::Interval span = {};  // from the end of the warm-up to the end of the last step
};

/// Measures the training steps of a rank (an index into job.ranks()); AU of its device that
/// computes least. Errors: kNotSupported when there are fewer than two such steps.
Result<RunMeasurement> measure_run(const job::JobView& job, std::size_t rank);

/// Old mean step time / new mean step time, with a 90 % interval by resampling the steps of both.
Speedup measured_speedup(const RunMeasurement& before, const RunMeasurement& after,
                         std::uint64_t seed = 1);

/// The same of parts that lie at the same places in both runs: as many of each, drawn together.
Speedup paired_speedup(const std::vector<double>& before_s, const std::vector<double>& after_s,
                       std::uint64_t seed = 1);

/// What two comparisons say together: the mean (of logarithms), and an interval that holds both.
Speedup of_both(const Speedup& first, const Speedup& second);

/// The same between two runs of the job as it is, one before and one after: of the mean of both (of
/// logarithms), with an interval that holds what either of them says.
Speedup measured_between(const RunMeasurement& before, const RunMeasurement& after,
                         const RunMeasurement& again);

/// Whether the measured value lies in the predicted interval.
bool prediction_held(const Speedup& predicted, const Speedup& measured);

}  // namespace unstarve::predict
