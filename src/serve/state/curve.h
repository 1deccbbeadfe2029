#pragma once

#include "report/model/report_model.h"
#include "trace/store/run_rows.h"

namespace unstarve::serve {

/// One metric of a run, of one subject.
struct Curve {
  trace::MetricRow metric;
  report::Series series;  // in seconds since the run began; its unit is the metric's
};

}  // namespace unstarve::serve
