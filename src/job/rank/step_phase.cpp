#include "job/rank/step_phase.h"

#include <algorithm>
#include <iterator>

namespace unstarve::job {

std::size_t warm_up_steps(trace::InputKind input, std::size_t steps) {
  return input == trace::InputKind::kRun && steps > 1 ? 1 : 0;
}

std::vector<StepPhase> tell_phases(const std::vector<trace::Step>& steps,
                                   const std::vector<LoaderUse>& loaders, std::size_t warm_up) {
  std::vector<StepPhase> phases(steps.size(), StepPhase::kTraining);
  for (const LoaderUse& loader : loaders) {
    if (loader.feeds_training) continue;
    for (const trace::LoaderWait& wait : loader.waits) {
      const std::ptrdiff_t at = step_at(steps, wait.when.start_ns);
      if (at >= 0) phases[static_cast<std::size_t>(at)] = StepPhase::kEvaluation;
    }
  }
  std::fill_n(phases.begin(), static_cast<std::ptrdiff_t>(std::min(warm_up, steps.size())),
              StepPhase::kWarmUp);
  return phases;
}

std::ptrdiff_t step_at(const std::vector<trace::Step>& steps, std::int64_t t_ns) {
  const auto after = std::upper_bound(
      steps.begin(), steps.end(), t_ns,
      [](std::int64_t t, const trace::Step& step) { return t < step.when.start_ns; });
  if (after == steps.begin()) return -1;
  const auto found = std::prev(after);
  return t_ns < found->when.end_ns ? found - steps.begin() : -1;
}

}  // namespace unstarve::job
