#pragma once

#include <cstdint>
#include <vector>

#include "job/rank/host_index.h"
#include "trace/timeline/timeline.h"

namespace unstarve::job {

/// Steps of a process that names none: the times through what it launches over and over, as far as
/// they lie in windows in which its device was recorded. `ops` are those of one device, `launcher`
/// the thread that launches most of them. None where nothing clearly repeats. What lies between two
/// windows, or is no time through the unit (an evaluation), is in no step.
std::vector<trace::Step> steps_by_repetition(const trace::Timeline& timeline, const HostIndex& host,
                                             const std::vector<std::uint32_t>& ops,
                                             ThreadKey launcher);

}  // namespace unstarve::job
