#pragma once

#include <string_view>

#include "base/result.h"
#include "trace/store/run_sink.h"
#include "trace/store/sqlite.h"
#include "trace/timeline/row_totals.h"
#include "trace/timeline/slot_plan.h"

namespace unstarve::trace {

/// What the table `run` says of how a run was thinned out; anything else is level 0.
SlotPlan parse_plan(std::string_view text);

/// Sums over the whole run, but for stages and samples.
Result<TotalsBy> read_thinned(const Database& database);

/// Hands the stages' totals on as stretches of time, of the length that they were counted in.
Status read_thinned_stages(const Database& database, RunSink& sink);

struct MetricName {
  std::string_view metric;
  std::string_view subject;
};

/// Of a metric's samples within `when`; of stretches that reach beyond it their part.
Result<RowTotals> read_thinned_samples(const Database& database, const MetricName& name,
                                       const Interval& when);

}  // namespace unstarve::trace
