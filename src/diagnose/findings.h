#pragma once

#include "diagnose/diagnosis/diagnosis.h"
#include "diagnose/signals/signals.h"

namespace unstarve::diagnose {

/// Asks every rule and fills `findings`, `hints` and `abstentions`: one finding per cause, by
/// share, with the details that explain it; `gpu_busy` first when it applies.
void conclude(const Signals& signals, Diagnosis& diagnosis);

/// Whether the second is so large that either may be the largest: within a fifth of the first.
bool is_about_as_large(const Finding& second, const Finding& first);

}  // namespace unstarve::diagnose
