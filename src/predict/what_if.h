#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/reading.h"
#include "base/result.h"
#include "predict/measurements.h"
#include "predict/pipeline_model.h"
#include "predict/resampling.h"
#include "predict/speedup.h"
#include "predict/worker_calibration.h"

namespace unstarve::predict {

/// What is known, and how well, of the machine that the job runs on. The defaults are for a trace
/// from a machine that cannot be measured any more.
struct MachineFacts {
  double cores = 64;                       // effective: affinity, cpuset and quota
  Range parallel_efficiency = {0.6, 1.0};  // what each core after the first adds
  /// The training thread's own work gets slower beside busy workers. A public pair of ResNet-50
  /// traces, before and after num_workers=4 on a machine with cores to spare, shows 1.0 to 1.35.
  Range host_slowdown = {1.0, 1.4};
};

/// A crew of workers as a calibration found it, with its errors: all of them at work on the CPU all
/// of the time. It tells what any number of workers takes.
struct MeasuredWorkers {
  int workers = 1;
  Range batch_s;              // of each worker, per batch, without its waiting for storage
  Range parallel_efficiency;  // what each core after the first adds for this code
  double cores = 1;           // that they used
  double consumer_cpu_s = 0;  // per batch, of the thread that took them, if it had no core left
  double pinning_cpu_s = 0;   // not measured: per batch, of the thread that will page-lock them
};

/// An edit of the pipeline.
struct Remedy {
  LoaderModel loader;
  /// What `loader.receive_s` may be more.
  Range receive_more_s = {0, 0};
  /// CPU seconds that the new loader needs per sample; absent: the job's own fetch goes on.
  Reading<double> sample_cpu_s = {};
  /// Uncertainty of a fetch's CPU time in its new place, as a factor.
  Range fetch_scale = {1.0, 1.0};
  /// Uncertainty of the time that a fetch waits for storage, as a factor: more at a time may be
  /// answered later each.
  Range blocked_scale = {1.0, 1.0};
  /// Seconds that the new loader's thread waits for storage per sample; with `sample_cpu_s`.
  double sample_blocked_s = 0;
  /// What a fetch waits shrinks as its CPU time does, by fetch_scale.
  bool waits_less = false;
  /// CPU seconds per batch that the new place costs on top, in the worker.
  double transport_cpu_s = 0;
  /// What the job's own code takes in worker processes, measured. The measured steps' fetches are
  /// scaled to it; fetch_scale, transport_cpu_s and the machine's parallel_efficiency are not used.
  std::optional<MeasuredWorkers> crew = {};
  /// Bytes of a new batch / bytes of an old one: uint8 pixels are a quarter of float32 ones. The
  /// copy to the device and its staging by the training thread shrink with them.
  double batch_bytes_ratio = 1;
  /// Seconds per step that the training thread spends on giving an old batch back to the system,
  /// and no longer does where the new loader uses its batches again and again. Only of batches in
  /// pageable memory: pinned ones are kept.
  Range freeing_s = {0, 0};
  /// Seconds per step that starting worker processes takes, anew in each pass over the data.
  Range start_s = {0, 0};
  /// The job's own workers go on. The gain is then that between two simulated runs, as the job is
  /// and with the edit: what the model leaves out of one it leaves out of the other.
  bool same_workers = false;
  /// With `same_workers`, how much of that difference a job may show: it also waits for what the
  /// model does not know (an epoch's start, an evaluation). Of 7 to 16 % that longer queues
  /// promised four jobs of the zoo showed 5 % at most.
  Range of_the_difference = {0.1, 1.0};
  /// What the prediction is made without, as a sentence for the report; empty: nothing.
  std::string lacks = {};
};

struct WhatIfOptions {
  MachineFacts machine;
  int resamples = 300;
  std::uint64_t seed = 1;
};

/// Workers that run the job's own data set, as torch's DataLoader does.
struct WorkerPlacement {
  int workers = 0;
  int prefetch_factor = 0;
  double batch_bytes = 0;  // that each batch carries through shared memory; 0: unknown
  double cores = 64;       // MachineFacts::cores
  double tensors = 0;      // that a batch is made of; 0: unknown
};

/// Guesses what a batch costs in a worker from its fetches in the training process; the remedy says
/// what it lacks. `batch_bytes`: see WorkerPlacement.
Remedy more_workers(int workers, int prefetch_factor, double batch_bytes);

/// With what a batch costs in a worker as `calibration` measured it for the loader of `before`;
/// else guessed as above.
Remedy more_workers(const WorkerPlacement& placement, const PipelineMeasurements& before,
                    const CalibrationText& calibration);

/// The worker processes that the job has, further ahead.
Remedy longer_queue(int workers, int prefetch_factor);

/// The loader that the job has, with less to do in a fetch; `fetch_scale`: what is left of its CPU
/// time and of its waiting.
Remedy lighter_fetches(const PipelineMeasurements& before, Range fetch_scale);

/// unstarve's loader with `threads` threads, at a CPU time per sample measured on this data.
/// `batch_bytes_ratio`: see Remedy.
Remedy native_loader(int threads, int batches_ahead, double sample_cpu_s,
                     double batch_bytes_ratio = 1);

/// Where fetches mostly wait, and the edit has more threads or processes than cores, so that more
/// of them wait for storage at a time: a range for what each then waits, and words for it.
void assume_storage_keeps_up(double cores, const PipelineMeasurements& before, Remedy& remedy);

/// What `remedy` would do to the mean step time: median and 90 % interval of old / new over
/// resampled steps and drawn machine parameters. The result cannot pass the remaining critical
/// path, since the simulated device and training thread still do all their work.
/// Errors: kNotSupported without steps, or when the remedy needs a fetch time nobody recorded.
Result<Speedup> predict_speedup(const PipelineMeasurements& before, const Remedy& remedy,
                                const WhatIfOptions& options);

}  // namespace unstarve::predict
