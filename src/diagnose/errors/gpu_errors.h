#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/reading.h"
#include "trace/store/gpu_error.h"
#include "trace/timeline/timeline.h"

namespace unstarve::diagnose {

/// Errors of one number that one GPU, or one MIG instance of it, reported while it was watched.
struct GpuErrorGroup {
  std::int64_t device = 0;
  std::int64_t xid = 0;
  Reading<std::int64_t> gpu_instance = {};  // of MIG; absent: they concern the whole GPU
  std::int64_t count = 0;
  double first_at_s = 0;         // since the run began
  std::int64_t after_steps = 0;  // that had ended when the first came; 0: none, or none was seen
};

/// In the order in which the first of each came. Steps are the rank's, sorted by their start.
std::vector<GpuErrorGroup> group_errors(std::span<const trace::GpuErrorRow> errors,
                                        std::int64_t run_started_ns,
                                        std::span<const trace::Step> steps);

}  // namespace unstarve::diagnose
