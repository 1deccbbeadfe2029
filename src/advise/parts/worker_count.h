#pragma once

#include "base/reading.h"
#include "diagnose/signals/signals.h"

namespace unstarve::advise {

/// Worker processes that would hide a batch's time behind the rest of the step, whatever the
/// machine has; at least 2, since one slow batch must not stop the step.
Reading<double> needed_workers(const diagnose::Signals& signals);

/// A quota may leave a fraction of a CPU; a thread is a thread all the same.
double whole_cpus(double effective_cpus);

}  // namespace unstarve::advise
