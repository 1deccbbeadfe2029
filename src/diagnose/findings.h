#pragma once

#include "diagnose/diagnosis.h"
#include "diagnose/signals/signals.h"

namespace unstarve::diagnose {

/// Asks every rule and fills `findings`, `hints` and `abstentions`: one finding per cause, by
/// share, with the details that explain it; `gpu_busy` first when it applies.
void conclude(const Signals& signals, Diagnosis& diagnosis);

}  // namespace unstarve::diagnose
