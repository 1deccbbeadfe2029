#include "predict/step_edit.h"

#include <algorithm>
#include <cmath>

namespace unstarve::predict {

namespace {

// Of a step something remains, whatever a share says.
constexpr double kLeast = 0.01;

double speedup(double removed, double added, double at_least, double samples_ratio) {
  const double step = std::max({1 - removed + added, std::min(at_least, 1 + added), kLeast});
  return samples_ratio / step;
}

}  // namespace

Speedup predict_step_edit(const StepEdit& edit) {
  Speedup gain;
  gain.low = speedup(edit.removed.low, edit.added.high, edit.at_least.high, edit.samples_ratio);
  gain.high = speedup(edit.removed.high, edit.added.low, edit.at_least.low, edit.samples_ratio);
  gain.speedup = gain.low * std::pow(gain.high / gain.low, edit.likely);
  return gain;
}

}  // namespace unstarve::predict
