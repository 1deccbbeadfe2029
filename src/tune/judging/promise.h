#pragma once

#include <optional>
#include <vector>

#include "tune/levers/lever.h"
#include "tune/trials/trial_result.h"

namespace unstarve::tune {

/// What a lever could save at most, as a share of a step: all of what it eases, or half of what it
/// has in half as many bytes. `seen`: in each run that was looked at, as runs of one job differ;
/// the one in which most could be saved counts. None where nobody saw what a step's time goes to.
std::optional<double> most_saved(const Lever& lever, const std::vector<StepShares>& seen);

/// By which levers are ordered. Loading is all or nothing: what else gains anything is not seen
/// while the loader holds the job up.
double promise_of(const Lever& lever, const std::vector<StepShares>& seen, bool held_up_by_loader);

/// A step's old / new time, if such a share of it is saved.
double speedup_of_saving(double share);

}  // namespace unstarve::tune
