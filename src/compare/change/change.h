#pragma once

#include <vector>

#include "base/reading.h"
#include "compare/run/measures.h"
#include "compare/run/step_blocks.h"

namespace unstarve::compare {

/// How a value changed, of what it was: 0.09 is 9 % more.
struct Change {
  double value = 0;
  // Where it lies with 90 %. Absent: nothing says how much it varies.
  Reading<double> low = {};
  Reading<double> high = {};

  bool is_certain() const { return low && high && (*low > 0 || *high < 0); }
};

/// The steps of each run of one side.
using Runs = std::vector<std::vector<StepBlock>>;

std::vector<StepBlock> all_blocks(const Runs& runs);

/// Of all blocks together; absent where the lower amount was not recorded.
Reading<double> value_of(const Measure& measure, const std::vector<StepBlock>& blocks);

/// By how much runs of one side differ from each other: the standard deviation of the logarithm of
/// their values, of both sides together. Absent: neither side has two runs.
Reading<double> noise_of(const Measure& measure, const Runs& a, const Runs& b);

/// Of the means (geometric, of the runs). Where a side has several runs, the interval is that of
/// Student for their noise; it holds at least what resampling of the steps says. Where each side
/// has one run, the steps are resampled alone, in blocks: how much another run would differ is not
/// in it. Steps of two single runs are drawn in pairs where they go up and down together. Absent: a
/// run lacks the measure, or it is 0 there.
Reading<Change> change_between(const Measure& measure, const Runs& a, const Runs& b);

}  // namespace unstarve::compare
