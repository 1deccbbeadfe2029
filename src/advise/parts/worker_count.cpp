#include "advise/parts/worker_count.h"

#include <algorithm>
#include <cmath>

namespace unstarve::advise {

double whole_cpus(double effective_cpus) { return std::max(1.0, std::round(effective_cpus)); }

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
