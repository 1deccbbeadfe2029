#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "job/job_view.h"
#include "trace/timeline/timeline.h"

namespace unstarve::diagnose {

/// Of `intervals`, disjoint and by start: whether one holds `instant`.
bool covers(const std::vector<trace::Interval>& intervals, std::int64_t instant);

using FetchLook = std::function<void(const trace::StackSample&, const trace::Stack&)>;

/// Each look at the Python of a loader's fetches, in whatever process they run.
void visit_fetch_looks(const trace::Timeline& timeline, const job::LoaderUse& loader,
                       const FetchLook& visit);

}  // namespace unstarve::diagnose
