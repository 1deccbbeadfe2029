#include "advise/parts/step_bounds.h"

#include <algorithm>

#include "diagnose/signals/conditions.h"

namespace unstarve::advise {

Reading<double> host_share(const diagnose::Signals& signals) {
  if (!signals.blocked_ratio) return signals.blocked_ratio.why_absent();
  return std::clamp(1 - *signals.blocked_ratio, 0.0, 1.0);
}

Reading<double> host_share_without(const diagnose::Signals& signals,
                                   const std::optional<LineTime>& line) {
  const Reading<double> host = host_share(signals);
  if (!host || !line) return host;
  return std::max(0.0, *host - (line->total - line->blocked));
}

double device_share(const diagnose::Signals& signals) {
  return signals.gpu_compute_ratio.value_or(0) + signals.exposed_communication_ratio.value_or(0) +
         signals.exposed_copy_ratio.value_or(0);
}

namespace {

/// Where passes over the data begin with a long wait, the median is of the other steps.
double mean_step_ns(const diagnose::Signals& signals) {
  const bool known = signals.wait_ns_mean && signals.wait_ratio.value_or(0) > 0;
  return known ? *signals.wait_ns_mean / *signals.wait_ratio : signals.step_ns_median.value_or(0);
}

}  // namespace

double loader_share(const diagnose::Signals& signals) {
  if (diagnose::is_native(signals)) return 0;
  const double workers = signals.num_workers.value_or(0);
  const double step_ns = mean_step_ns(signals);
  if (workers < 1 || !signals.fetch_ns_median || !(step_ns > 0)) return 0;
  const double fetch = *signals.fetch_ns_median / step_ns;
  const double cpu = fetch * signals.fetch_cpu_ratio.value_or(1);
  const double cores = std::max(1.0, std::min(workers, signals.effective_cpus.value_or(workers)));
  return std::max(fetch / workers, cpu / cores);
}

predict::Range part_of(double share, double least, double most) {
  return {least * share, most * share};
}

}  // namespace unstarve::advise
