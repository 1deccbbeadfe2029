#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/reading.h"
#include "job/job_view.h"
#include "trace/text/hook_text.h"

namespace unstarve::roofline {

/// What one process of a job does in a step, in the mean over its steps behind the warm-up, and how
/// long such a step takes.
struct StepWork {
  /// unit: s.  source: the median of the steps in which the job trains.
  Reading<double> step_s = {};
  /// unit: s.  source: how long the device was busy with what was launched in those steps, each.
  /// More than step_s where the host runs ahead: the device still works when the job's loop ended.
  Reading<double> device_s = {};
  /// unit: bytes.  source: the copies to the device that were recorded; absent: no device was.
  Reading<double> h2d_bytes = {};
  /// Kernels and memsets that the host launched one by one; absent: no device was recorded.
  Reading<double> launches = {};
  /// Those that graphs launched.
  Reading<double> graph_nodes = {};
  /// unit: s of CPU time.  source: its threads' clocks, of fetches or of unstarve's own loader.
  /// error: what is thinned out of a long run is left out, with its steps.
  Reading<double> loader_cpu_s = {};
  /// That all of the job's processes may use.
  Reading<double> cores = {};
  trace::FlopText flops = {};
};

/// Of a rank (an index into job.ranks()) and its `device` (none: no device was recorded). `flops`
/// and `cores` are passed on.
struct StepWorkSources {
  const job::JobView& job;
  std::size_t rank = 0;
  std::optional<std::int32_t> device;
};
StepWork step_work(const StepWorkSources& sources);

}  // namespace unstarve::roofline
