#pragma once

#include <algorithm>

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

/// Whether GPUs were recorded and take no part in the training, so that they idle whatever the
/// loader does.
inline bool gpu_takes_no_part(const Signals& signals) {
  return signals.gpu_takes_no_part.value_or(0) > 0;
}

/// Whether other processes use so much of the job's CPUs that its own wait for one.
inline bool cpus_are_taken(const Signals& signals) {
  constexpr double kMuch = 0.2;
  constexpr double kQueue = 0.1;  // of a thread
  constexpr double kThrottled = 0.05;
  if (!signals.neighbour_cores || !signals.job_cpu_cores || !signals.effective_cpus) return false;
  const double cpus = *signals.effective_cpus;
  return *signals.neighbour_cores >= kMuch * cpus &&
         *signals.job_cpu_cores + *signals.neighbour_cores >= kCpusBusy * cpus &&
         *signals.job_cpu_cores < kCpusBusy * cpus &&
         signals.cpu_waiting_threads.value_or(1) >= kQueue &&
         signals.throttled_ratio.value_or(0) < kThrottled;
}

/// Whether there are more workers than CPUs, so that all CPUs are busy or many workers wait for
/// one.
inline bool workers_crowd(const Signals& signals) {
  constexpr double kQueue = 0.2;  // of the workers
  if (!signals.num_workers || !signals.effective_cpus || !signals.cpu_use_ratio) return false;
  if (*signals.num_workers <= *signals.effective_cpus) return false;
  return *signals.cpu_use_ratio >= kCpusBusy ||
         signals.cpu_waiting_threads.value_or(0) >= kQueue * *signals.num_workers;
}

/// Whether who fetches waits for a CPU that others, or its like, have.
inline bool fetches_wait_for_cpu(const Signals& signals) {
  return cpus_are_taken(signals) || workers_crowd(signals);
}

/// A share of a fetch's time that is CPU time, as a share of the time in which it was given a CPU:
/// where others take the CPUs, or its like, waiting for one says nothing of what the fetch does.
inline double of_time_on_cpu(const Signals& signals, double ratio) {
  const bool waits_for_cpu = fetches_wait_for_cpu(signals) && !is_native(signals) &&
                             signals.fetch_cpu_ratio.value_or(0) > 0;
  return waits_for_cpu ? std::min(1.0, ratio / *signals.fetch_cpu_ratio) : ratio;
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

/// Whether much of the waiting is for the job's own sampler, whoever makes the batches.
inline bool waits_for_the_sampler(const Signals& signals) {
  constexpr double kMuch = 0.3;
  return signals.order_ratio.value_or(0) >= kMuch;
}

/// Whether batches are waited for longer than they take to make: handing them over takes more.
inline bool handing_over_takes_longer(const Signals& signals) {
  return signals.num_workers.value_or(0) >= 1 && !waits_for_the_sampler(signals) &&
         signals.fetch_ns_median && signals.wait_ns_median.value_or(0) > *signals.fetch_ns_median;
}

/// Whether the workers share fewer CPUs than they could use: something set their affinity.
inline bool workers_are_pinned(const Signals& signals) {
  if (!signals.worker_cpus || !signals.effective_cpus || is_native(signals)) return false;
  const double could_use = std::min(signals.num_workers.value_or(0), *signals.effective_cpus);
  return *signals.worker_cpus < could_use;
}

/// Whether fetches mostly sleep because the data set's code asks for it.
inline bool fetches_sleep(const Signals& signals) {
  constexpr double kMuch = 0.4;
  return signals.fetch_sleep_call_ratio.value_or(0) >= kMuch;
}

/// Whether a step's data go to the device in many pieces, each with a cost of its own.
inline bool makes_small_copies(const Signals& signals) {
  constexpr double kSmallBytes = 64 * 1024;
  constexpr double kMany = 10;
  return signals.h2d_bytes_median.value_or(kSmallBytes) < kSmallBytes &&
         signals.h2d_copies_per_step.value_or(0) >= kMany;
}

/// Whether most of the time after waits for the device comes after waits for copies to it.
inline bool awaits_uploads(const Signals& signals) {
  constexpr double kMost = 0.5;
  return signals.upload_wait_ratio.value_or(0) >= kMost;
}

/// Whether the training thread waits for the device step by step, as far as that is known.
inline bool waits_in_each_step(const Signals& signals) {
  constexpr double kSeldom = 0.5;
  return signals.syncs_per_step.value_or(1) >= kSeldom;
}

}  // namespace unstarve::diagnose
