#pragma once

#include <cstdint>
#include <vector>

#include "diagnose/partition/host_index.h"
#include "trace/timeline.h"

namespace unstarve::diagnose {

/// Whose steps, waits and blocking calls belong to one device: those of the process that launches
/// its work. A trace whose steps carry another process id (seen in real ones) keeps all of them.
struct JobThreads {
  std::vector<ThreadKey> training;     // sorted
  std::vector<trace::Interval> steps;  // by start
  std::vector<trace::Interval> waits;  // inside the loader's `__next__`: disjoint, by start
};

/// `ops` are indices into timeline.device_ops.
JobThreads find_job_threads(const trace::Timeline& timeline, const HostIndex& index,
                            const std::vector<std::uint32_t>& ops);

/// First step start to last step end; nothing when there are no steps. `leave_out_first` drops the
/// warm-up step when another remains.
Reading<trace::Interval> span_of_steps(const std::vector<trace::Interval>& steps,
                                       bool leave_out_first);

}  // namespace unstarve::diagnose
