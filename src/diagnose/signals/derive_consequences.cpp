#include <algorithm>

#include "diagnose/signals/conditions.h"
#include "diagnose/signals/derive.h"

namespace unstarve::diagnose {

namespace {

// Below these nobody would notice.
constexpr double kLeastSync = 0.01;
constexpr double kLeastCpuWait = 0.05;

/// CPU seconds per second of the processes that load batches.
Reading<double> worker_cores(const Signals& signals) {
  if (!signals.num_workers) return signals.num_workers.why_absent();
  if (!signals.worker_busy_ratio) return signals.worker_busy_ratio.why_absent();
  if (!signals.fetch_cpu_ratio) return signals.fetch_cpu_ratio.why_absent();
  return *signals.num_workers * *signals.worker_busy_ratio * *signals.fetch_cpu_ratio;
}

// A host that need not wait for the device goes on launching meanwhile, so that what it is late by
// in short gaps shrinks by the time that it was blocked.
void derive_launch_after_sync(Signals& out) {
  if (!out.sync_ratio || !out.launch_ratio || !out.blocked_ratio) return;
  if (*out.sync_ratio < kLeastSync) return;
  const double short_gaps = *out.launch_ratio * (1 - out.long_launch_gap_ratio.value_or(0));
  out.launch_after_sync_ratio = std::clamp(*out.blocked_ratio - *out.sync_ratio, 0.0, short_gaps);
}

// A training thread that waits for a CPU does so wherever it works: in launches as in all else.
void derive_launch_beside_loading(Signals& out) {
  constexpr double kWorkersMuch = 0.3;  // of the CPUs
  constexpr double kThrottled = 0.05;
  const Reading<double> workers = worker_cores(out);
  if (!out.training_cpu_wait_ratio || !out.launch_ratio || !workers || !out.effective_cpus) return;
  if (*out.training_cpu_wait_ratio < kLeastCpuWait || cpus_are_taken(out)) return;
  if (*workers < kWorkersMuch * *out.effective_cpus) return;
  if (out.throttled_ratio.value_or(0) >= kThrottled) return;
  const double working = 1 - out.wait_ratio.value_or(0) - out.blocked_ratio.value_or(0);
  if (working <= 0) return;
  const double waits = std::min(1.0, *out.training_cpu_wait_ratio / working);
  const double most = *out.launch_ratio - out.launch_after_sync_ratio.value_or(0);
  out.launch_beside_loading_ratio = std::min(most, waits * *out.launch_ratio);
}

}  // namespace

void derive_consequences(Signals& out) {
  derive_launch_after_sync(out);
  derive_launch_beside_loading(out);
}

}  // namespace unstarve::diagnose
