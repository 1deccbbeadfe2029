#pragma once

#include <string_view>

#include "base/reading.h"
#include "diagnose/signals/host_signals.h"
#include "report/report_model.h"
#include "trace/run_reader.h"
#include "trace/timeline.h"

namespace unstarve::cli {

/// Mean of a metric's samples in `when`; absent with the last reason where it has none there.
Reading<double> mean_in(const trace::RunReader& run, std::string_view metric,
                        std::string_view subject, const trace::Interval& when);

/// What the sampler saw beside the job during `when`.
diagnose::HostSignals read_host_signals(const trace::RunReader& run, const trace::Interval& when);

/// GPU utilisation as a curve, in seconds since the run began; gaps where it is absent.
report::Series read_utilization(const trace::RunReader& run, std::int64_t started_ns);

}  // namespace unstarve::cli
