#include "advise/parts/worker_count.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "diagnose/signals/conditions.h"

namespace unstarve::advise {

using diagnose::fetches_wait_for_storage;

double whole_cpus(double effective_cpus) { return std::max(1.0, std::round(effective_cpus)); }

double batches_in_memory(const diagnose::Signals& signals) {
  constexpr double kShareOfMemory = 0.25;
  const double batch_bytes = signals.h2d_bytes_per_step.value_or(0);
  if (batch_bytes <= 0 || !signals.memory_available_bytes) {
    return std::numeric_limits<double>::infinity();
  }
  return kShareOfMemory * *signals.memory_available_bytes / batch_bytes;
}

double waiting_workers(const diagnose::Signals& signals, std::int64_t batches_ahead) {
  constexpr double kMost = 32;
  if (!fetches_wait_for_storage(signals)) return 0;
  double most = kMost;
  // So many fetches at a time keep the CPUs busy.
  const double cpu_ratio = signals.fetch_cpu_ratio.value_or(1);
  if (signals.effective_cpus && cpu_ratio > 0) {
    most = std::min(most, std::ceil(*signals.effective_cpus / cpu_ratio));
  }
  // Each has a batch in work beside those ahead.
  return std::min(most,
                  std::floor(batches_in_memory(signals) / static_cast<double>(batches_ahead + 1)));
}

bool is_about_waiting(std::string_view rule) {
  return rule == "input_wait" || rule == "input_wait_from_host" ||
         rule == "gpu_fluctuating_cpu_low";
}

std::optional<Workers> workers_for(const diagnose::Signals& signals,
                                   const Reading<double>& needed) {
  if (diagnose::is_native(signals)) return std::nullopt;  // it has threads
  if (signals.cpu_use_ratio && *signals.cpu_use_ratio >= diagnose::kCpusBusy) return std::nullopt;
  // They would get no CPU, unless they hardly need one. Who is seldom looked at from outside, as
  // beside such neighbours, is still seen to sleep by looks at its lines.
  const bool needs_cpu = !fetches_wait_for_storage(signals) && !diagnose::fetches_sleep(signals);
  if (diagnose::cpus_are_taken(signals) && needs_cpu) return std::nullopt;
  if (diagnose::workers_are_pinned(signals)) return std::nullopt;  // more would share their CPUs
  if (!needed) return std::nullopt;
  const double cpus = whole_cpus(signals.effective_cpus.value_or(*needed));
  Workers workers = {std::min(*needed, cpus)};
  const double waiting = std::min(*needed, waiting_workers(signals, kPrefetchBeyondCpus));
  if (waiting > cpus) workers = {waiting, true};
  if (signals.num_workers && workers.count <= *signals.num_workers) return std::nullopt;
  return workers;
}

predict::Remedy model_of_workers(std::int64_t workers, std::int64_t prefetch_factor,
                                 const PredictionBasis& basis) {
  predict::WorkerPlacement placement;
  placement.workers = static_cast<int>(workers);
  placement.prefetch_factor = static_cast<int>(prefetch_factor);
  placement.batch_bytes = basis.bytes_per_step;
  placement.tensors = basis.copies_per_step;
  placement.cores = basis.machine.cores;
  return predict::more_workers(placement, basis.pipeline, basis.workers);
}

Reading<double> needed_workers(const diagnose::Signals& signals) {
  constexpr double kFewestWorkers = 2;
  // In the training process the fetch is the wait, so the wait stands for it when nobody timed it.
  const bool inside = signals.num_workers.value_or(0) == 0;
  const Reading<double>& fetch =
      signals.fetch_ns_median || !inside ? signals.fetch_ns_median : signals.wait_ns_median;
  if (!fetch) return fetch.why_absent();
  if (!signals.step_ns_median || !signals.wait_ns_median) return WhyAbsent::kNotObserved;
  const double rest_ns = *signals.step_ns_median - *signals.wait_ns_median;
  if (rest_ns <= 0) return WhyAbsent::kNotObserved;
  return std::max(kFewestWorkers, std::ceil(*fetch / rest_ns));
}

}  // namespace unstarve::advise
