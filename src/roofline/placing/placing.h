#pragma once

#include <cstddef>
#include <optional>

#include "diagnose/partition/partition.h"
#include "diagnose/signals/signals.h"
#include "roofline/position/position.h"
#include "trace/run_reader.h"

namespace unstarve::roofline {

/// Where a run's job lies under the roofs that `unstarve roofline` kept of this machine: the rank
/// and the device that its diagnosis speaks of. A job that trains on the CPU lies under the CPU's,
/// if its operations were asked for (`run --flops`). None where no step was timed, and of other
/// jobs none where no GPU's activity was recorded. The roofs of another machine than the run's say
/// nothing of it, and are left out.
std::optional<roofline::Position> place_run(const trace::RunReader& run,
                                            const diagnose::PartitionedJob& job,
                                            const diagnose::Signals& signals);

}  // namespace unstarve::roofline
