#pragma once

#include "predict/resampling.h"
#include "predict/speedup.h"

namespace unstarve::predict {

/// An edit of what the training does with its steps, in shares of the mean step as it is now.
/// Unlike an edit of the input pipeline it is not simulated: the partition says already what each
/// idle time is due to, and what remains of a step follows by arithmetic.
struct StepEdit {
  Range removed = {0, 0};    // time in which the device idles, and no longer does
  Range added = {0, 0};      // time that comes in
  Range at_least = {0, 0};   // what a step takes all the same: of the host, or of the loader
  double samples_ratio = 1;  // samples of a new step / of one now
  double likely = 0.5;       // where in the interval the gain is most often: 0 its low end, 1 high
};

/// Old / new time of a sample. The interval is from least removed and most added to most removed
/// and least added, the value between them where `likely` says (of logarithms): which of both it is
/// follows from the job's code, and is no matter of chance.
Speedup predict_step_edit(const StepEdit& edit);

}  // namespace unstarve::predict
