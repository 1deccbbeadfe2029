#include <fmt/format.h>

#include <algorithm>

#include "base/number_words.h"
#include "diagnose/rules/rule.h"
#include "diagnose/signals/conditions.h"
#include "diagnose/signals/fetch_work.h"

namespace unstarve::diagnose {

namespace {

// The counterpart of `storage` where nothing waits for storage, nor for a CPU.
std::optional<Claim> evaluate_off_cpu(const Signals& signals) {
  if (fetches_sleep(signals)) return std::nullopt;               // `asleep` knows more
  if (fetches_wait_for_storage(signals)) return std::nullopt;    // `late_storage` does
  if (fetches_wait_for_libraries(signals)) return std::nullopt;  // `python_transform` does
  constexpr double kOften = 0.4;
  constexpr double kPressure = 0.1;
  constexpr double kQueue = 0.2;  // of a process
  const double off_cpu = 1 - *signals.fetch_cpu_ratio;
  if (off_cpu < kOften || *signals.io_pressure_ratio >= kPressure ||
      *signals.cpu_waiting_threads >= kQueue * std::max(*signals.num_workers, 1.0)) {
    return std::nullopt;
  }
  Claim claim;
  claim.weight = off_cpu;
  claim.evidence.push_back(fmt::format(
      "a batch that is being made is off the CPU for {} of the time, and not for local "
      "storage: the data set's code sleeps, or waits for a lock, the network or another "
      "process",
      percent_text(off_cpu)));
  return claim;
}

}  // namespace

Rule off_cpu_rule() {
  return {"off_cpu",
          RuleKind::kDetail,
          "input_wait",
          {&Signals::fetch_cpu_ratio, &Signals::io_pressure_ratio, &Signals::cpu_waiting_threads,
           &Signals::num_workers},
          evaluate_off_cpu,
          ""};
}

}  // namespace unstarve::diagnose
