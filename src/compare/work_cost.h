#pragma once

#include <optional>

#include "compare/moved.h"
#include "cost/cost.h"

namespace unstarve::compare {

/// What a side takes for the same work as the other.
struct WorkCost {
  bool of_samples = true;  // of 1,000 samples, else of 1,000 steps
  cost::Amount a;
  cost::Amount b;
  /// What B gives back of a month in which A trains; negative: it takes more.
  cost::Amount month;
  bool emulated = false;
  std::optional<cost::Rate> price_a;  // of a GPU-hour; none: not known, or several
  std::optional<cost::Rate> price_b;
  cost::Rate carbon_g_per_kwh;
  cost::Rate pue;
};

/// Of the training steps alone. Steps stand for samples
/// where a side does not say its samples.
WorkCost work_cost(const Side& a, const Side& b, const cost::Rates& rates);

}  // namespace unstarve::compare
