#pragma once

#include <vector>

#include "examine/examination.h"
#include "report/model/report_model.h"
#include "trace/run_reader.h"

namespace unstarve::report {

/// The label of the track of saved files.
inline constexpr const char* kSavingTrack = "saving";

/// What the curves of a run are drawn beside: its steps, what else it did than train, what its
/// findings speak of, and errors of a GPU. Tracks in which nothing happened are left out.
std::vector<Track> tracks_of(const examine::Examination& examined, std::int64_t started_ns);

/// When the first step began that counts, in seconds since the run did: imports, start-up and the
/// warm-up lie before it. Absent without steps.
Reading<double> training_from_s(const examine::Examination& examined, std::int64_t started_ns);

/// The same of a run that nobody examined: when all processes that train are in their second step.
Reading<double> training_from_s(const trace::RunReader& run);

/// When the last step of a run ended, on the same clock. Absent without steps.
Reading<double> training_until_s(const trace::RunReader& run);

}  // namespace unstarve::report
