#pragma once

#include "diagnose/signals/host_signals.h"
#include "trace/run_reader.h"
#include "trace/timeline.h"

namespace unstarve::diagnose {

/// What the sampler saw beside the job during `when`.
HostSignals read_host_signals(const trace::RunReader& run, const trace::Interval& when);

}  // namespace unstarve::diagnose
