#pragma once

#include <cstdint>

#include "base/reading.h"

namespace unstarve::trace {

/// A row of a run's table `gpu_error`: an error (XID) that the driver reported of a GPU, when the
/// sampler heard of it. Never thinned out.
struct GpuErrorRow {
  std::int64_t t_ns = 0;  // CLOCK_MONOTONIC
  std::int64_t device = 0;
  std::int64_t xid = 0;
  Reading<std::int64_t> gpu_instance = {};  // of MIG; absent: it concerns the whole GPU
  Reading<std::int64_t> compute_instance = {};
};

}  // namespace unstarve::trace
