#pragma once

#include <vector>

#include "diagnose/diagnosis/diagnosis.h"
#include "diagnose/signals/derive.h"

namespace unstarve::diagnose {

/// The events of the process that trains, counted by kind over the signals' window.
std::vector<NamedEvent> count_events(const SignalSources& sources);

}  // namespace unstarve::diagnose
