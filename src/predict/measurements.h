#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/reading.h"
#include "base/result.h"
#include "job/job_view.h"
#include "predict/resampling.h"

namespace unstarve::predict {

/// One measured step, in seconds.
struct MeasuredStep {
  double step_s = 0;
  double wait_s = 0;           // training thread inside the loader
  double sync_s = 0;           // training thread blocked on the device
  double staging_s = 0;        // part of the rest spent copying pageable memory to the device
  double copy_s = 0;           // part of device_s spent copying to the device
  double device_s = 0;         // device busy with work that this step launched
  double fetch_cpu_s = 0;      // CPU time of the fetch of one batch
  double fetch_blocked_s = 0;  // its time off the CPU
  double samples = 0;          // 0 when unknown
};

/// What the pipeline model needs to know of a run or a trace.
struct PipelineMeasurements {
  std::vector<MeasuredStep> steps;  // in which the job trains: no warm-up, no evaluation
  bool loader_known = false;        // the number of workers was recorded
  int workers = 0;  // of the loader that feeds the training; 0: fetches in the training thread
  int batches_ahead = 0;  // workers x prefetch_factor
  Reading<std::int64_t> loader_id = {};
  bool fetches_seen = false;  // fetch times were recorded, not derived from waits
  /// Per batch, the training thread inside a loader without workers: copies it to page-locked
  /// memory. With worker processes a thread of the training process does that.
  double pinning_s = 0;
  /// Per batch of a loader with worker processes, what receiving it takes the training thread:
  /// the median of waits for batches that lay ready, or, where more came late, at most the median
  /// time from the end of its fetch until it was there. {0, 0}: not known.
  Range handover_s = {0, 0};
  /// CPUs that the training thread takes while it waits for the device; see device_wait_cpu().
  Range device_wait_cpu = {0, 1};
  // Of the steps, those whose device times were recorded; the others were given theirs in turn.
  std::size_t steps_recorded = 0;

  double mean_step_s() const;
  double mean_samples() const;
  double mean_fetch_cpu_s() const;
  double mean_fetch_blocked_s() const;
};

/// CPUs that the job's processes used, in the mean from one reading of their times to the next.
struct CpuReading {
  trace::Interval when = {};
  double cpus = 0;
};

struct MeasureOptions {
  /// Device busy share of the wall time from a monitor, for recordings without device records.
  Reading<double> device_busy_ratio = {};
  /// By time; none for recordings beside which nobody read them.
  std::vector<CpuReading> job_cpu = {};
};

/// Splits every training step of a rank (an index into job.ranks()) into the parts above.
/// Errors: kNotSupported when it has no such step, no loader waits, or says nothing about the
/// device (the message names the missing signal).
Result<PipelineMeasurements> measure_pipeline(const job::JobView& job, std::size_t rank,
                                              const MeasureOptions& options);

/// CPUs that the training thread of `rank` takes while it waits for the device: 0 asleep, 1 where
/// CUDA spins. Told apart from its other work by how the job's CPU use follows the calls that wait,
/// with two standard errors to either side; 0 to 1 where that does not tell: no readings or calls,
/// other processes at the same work (workers, ranks).
Range device_wait_cpu(const job::JobView& job, std::size_t rank,
                      const std::vector<CpuReading>& job_cpu);

}  // namespace unstarve::predict
