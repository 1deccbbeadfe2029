#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/run_reader.h"
#include "trace/timeline/timeline.h"

namespace unstarve::trace {

/// Which of the machine's GPUs a process of the job trains on.
struct JobGpu {
  std::int64_t index = 0;  // as the driver numbers them
  std::string subject() const { return "gpu" + std::to_string(index); }
};

/// By what the hook says of `process` (0: of the one that trains): the UUID of its GPU, which the
/// run has of each; else its number among the GPUs that CUDA_VISIBLE_DEVICES let it see, wherever
/// that was set. The first GPU where neither tells.
JobGpu job_gpu(const RunReader& run, std::int64_t process);

/// The same by what one said and by the UUIDs of the machine's GPUs, in the driver's order.
JobGpu job_gpu(const TrainingDevice& device, const std::vector<std::string>& uuids);

}  // namespace unstarve::trace
