#pragma once

#include "tune/levers/lever.h"
#include "tune/trials/trial_result.h"

namespace unstarve::tune {

/// What a lever could gain at most, as a share of a step: all of what it eases. Where nobody saw
/// what a step's time goes to, each is as good as another. Loading is all or nothing: what else
/// gains anything is not seen while the loader holds the job up.
double promise_of(const Lever& lever, const StepShares& shares, bool held_up_by_loader);

}  // namespace unstarve::tune
