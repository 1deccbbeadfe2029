#pragma once

#include "diagnose/signals/host_signals.h"
#include "trace/job_gpu.h"
#include "trace/run_reader.h"
#include "trace/timeline/timeline.h"

namespace unstarve::diagnose {

/// What the sampler saw beside the job during `when`; of GPUs what it saw of `gpu`.
HostSignals read_host_signals(const trace::RunReader& run, const trace::Interval& when,
                              const trace::JobGpu& gpu = {});

}  // namespace unstarve::diagnose
