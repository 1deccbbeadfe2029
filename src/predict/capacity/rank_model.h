#pragma once

#include <cstddef>
#include <vector>

#include "predict/pipeline_model.h"

namespace unstarve::predict {

/// Training processes, one for each GPU, that share the cores of one machine. Each has workers of
/// its own and trains on batches of its own; after each step their GPUs exchange gradients, so that
/// none begins the next step before all have ended this one.
struct RankModel {
  LoaderModel loader;  // of each rank
  CpuModel cpu;        // of all ranks together; host_slowdown is not used
  int ranks = 1;
  double exchange_s = 0;  // what the exchange adds to a step behind the slowest rank's work
  bool spins = true;      // a training thread that waits for its GPU keeps a core busy
  /// What threads that take turns on a core lose at most by finding its caches full of others': the
  /// CPU time of the same fetches was 13 % more where three shared one core than where each had its
  /// own, and 19 % with seven.
  double crowding_loss = 0.2;
};

/// Means over the steps behind the warm-up, of a rank where nothing else is said.
struct RankOutcome {
  double step_s = 0;
  double host_wall_s = 0;    // the training thread's own work, with its waits for a core
  double fetch_stretch = 1;  // wall time of a fetch's computing / its CPU time
  double spin_cpu_s = 0;     // CPU that its waits for the GPU took
  double busy_cores = 0;     // of the machine, spinning with it
};

/// Discrete-event simulation: as simulate_mean_step_s(), of several ranks. All runnable threads
/// share the cores equally. Needs more steps than warm_up_steps.
RankOutcome simulate_ranks(const RankModel& model, const std::vector<StepCost>& steps,
                           std::size_t warm_up_steps);

}  // namespace unstarve::predict
