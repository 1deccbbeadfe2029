#pragma once

#include "diagnose/signals/signals.h"

namespace unstarve::diagnose {

// What several ask of the signals, rules for what they say and remedies for whether they can help.

/// At this use of its CPUs a job has none to spare.
inline constexpr double kCpusBusy = 0.9;
/// Clocks that were held down in this share of the samples cost something.
inline constexpr double kClocksOftenDown = 0.1;

/// Whether the job loads with unstarve's engine.
inline bool is_native(const Signals& signals) { return signals.loader_threads.has_value(); }

/// Whether the model is trained on the CPU, where loading competes with it.
inline bool trains_on_host(const Signals& signals) {
  return signals.trains_on_host.value_or(0) > 0;
}

/// Of the time that fetches take, what they wait for storage, as their threads were seen: in calls
/// on files, for sockets, or asleep. Absent where nobody could look.
inline Reading<double> storage_wait_ratio(const Signals& signals) {
  if (!signals.fetch_in_files_ratio) return signals.fetch_in_files_ratio.why_absent();
  return *signals.fetch_in_files_ratio + signals.fetch_in_network_ratio.value_or(0) +
         signals.fetch_asleep_ratio.value_or(0);
}

/// Whether fetches mostly wait for storage that answers late, while CPUs are to spare: more of them
/// at a time would help, on the CPUs there are.
inline bool fetches_wait_for_storage(const Signals& signals) {
  constexpr double kMuch = 0.4;
  if (!signals.fetch_cpu_ratio || 1 - *signals.fetch_cpu_ratio < kMuch) return false;
  if (signals.cpu_use_ratio && *signals.cpu_use_ratio >= kCpusBusy) return false;
  const Reading<double> waits = storage_wait_ratio(signals);
  return waits && *waits >= kMuch && *waits > signals.fetch_in_locks_ratio.value_or(0);
}

/// Whether one gap makes most of the time that the host launched too late: an event, no loop.
inline bool one_gap_dominates(const Signals& signals) {
  constexpr double kOneGap = 0.5;
  return signals.longest_launch_gap_ratio.value_or(0) >= kOneGap;
}

/// Whether the device gets its work in so many or so short pieces that launching them is the work.
inline bool launches_small_work(const Signals& signals) {
  // Kernels this short are over before Python has launched the next one.
  constexpr double kShortKernelNs = 20e3;
  constexpr double kManyLaunches = 100;
  return signals.kernel_ns_median.value_or(kShortKernelNs) < kShortKernelNs ||
         signals.launches_per_step.value_or(0) >= kManyLaunches;
}

}  // namespace unstarve::diagnose
