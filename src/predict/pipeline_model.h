#pragma once

#include <cstdint>
#include <vector>

namespace unstarve::predict {

/// What one step asks of each part of the pipeline, in seconds, as if it had the part to itself.
struct StepCost {
  double fetch_cpu_s = 0;      // CPU time that one fetching thread spends on the step's batch
  double fetch_blocked_s = 0;  // time it is off the CPU meanwhile: storage, page cache misses
  // The training thread outside the loader and not blocked on the device, in this order:
  double lead_s = 0;     // until an idle device gets its first work of the step
  double staging_s = 0;  // copies pageable memory to the device, which waits for it
  double host_s = 0;     // the rest, beside the device's work
  double device_s = 0;   // the device executes something else than staged copies
  bool syncs = false;    // the training thread waits for the device at the end of the step
};

/// How the batches are made.
struct LoaderModel {
  int workers = 0;           // 0: inside the training thread
  int batches_ahead = 0;     // batches that may be in work or ready beyond the current one
  double receive_s = 0;      // training thread, per batch: takes it over from a worker
  double fetch_scale = 1.0;  // CPU time of a fetch against StepCost::fetch_cpu_s
};

/// The cores that training thread and workers share.
struct CpuModel {
  double cores = 1;
  /// What each core after the first adds, 0..1: below 1 for hyperthreads and shared memory
  /// bandwidth.
  double parallel_efficiency = 1;
  /// Slow-down of the training thread's own work while workers run, beyond their share of cores
  /// (cache, memory bandwidth, interpreter lock of helper threads).
  double host_slowdown = 1;
  /// CPUs that the training thread takes while it waits for the device, 0..1: CUDA spins where
  /// there are no more contexts than cores.
  double device_wait_cpu = 0;
};

struct PipelineModel {
  LoaderModel loader;
  CpuModel cpu;
};

/// Discrete-event simulation of one run: workers fetch ahead, the training thread takes batches in
/// order, launches, and now and then waits for the device; the device executes in order; all
/// runnable threads share the cores equally, a wait that spins among them.
///
/// Returns the mean step time in seconds over steps[warm_up_steps..]; the first steps fill the
/// queue. Each element of `steps` is one step. Needs more steps than warm_up_steps.
double simulate_mean_step_s(const PipelineModel& model, const std::vector<StepCost>& steps,
                            std::size_t warm_up_steps);

}  // namespace unstarve::predict
