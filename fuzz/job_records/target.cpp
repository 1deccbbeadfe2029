#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runs/cluster/job_records.h"

/// A comment in a cluster's accounting may be anybody's: nothing crashes, and no figure is less
/// than nothing.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto records = unstarve::runs::read_job_records(text);
  if (!records) return 0;
  for (const unstarve::runs::JobRecord& job : records->jobs) {
    if (job.idle_gpu_hours.value_or(0) < 0 || job.gpu_use_ratio.value_or(0) > 1) return -1;
  }
  return 0;
}
