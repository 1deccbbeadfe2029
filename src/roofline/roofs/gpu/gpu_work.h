#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "roofline/roofs/gpu/cuda_driver.h"
#include "roofline/roofs/session.h"

namespace unstarve::roofline {

/// What is repeated on a GPU and timed as a whole: started `count` times, then waited for.
struct GpuWork {
  std::string name;
  std::string unit;
  double amount = 0;  // of each start, in the unit without its "/s"
  std::function<Status()> start;
};

/// Rates of such work, by the host's clock: so many starts at once that a repeat takes
/// milliseconds, three repeats or more in `duration_ns`. Adds no roof: the caller knows conditions.
Result<std::vector<double>> time_gpu_work(const CudaGpu& gpu, const GpuWork& work,
                                          std::int64_t duration_ns, Session& session);

/// Who times, for how long, and who hears of it.
struct GpuTiming {
  const CudaGpu& gpu;
  std::int64_t duration_ns;
  Session& session;
};

/// The roof of such work, or why there is none; `spec` is what it cannot be above, 0: not known.
void add_timed(const GpuTiming& timing, const GpuWork& work, const Conditions& conditions,
               double spec = 0);

/// Copies between host and GPU, one way and both ways at once.
void measure_transfers(CudaGpu& gpu, const std::string& prefix, std::uint64_t most_bytes,
                       std::int64_t duration_ns, Session& session);
/// The GPU's own memory. `peak`: bytes a second that it cannot be above; 0: not known.
void measure_device_memory(const CudaGpu& gpu, const std::string& prefix, double peak,
                           std::int64_t duration_ns, Session& session);
void measure_launches(CudaGpu& gpu, const std::string& prefix, std::int64_t duration_ns,
                      Session& session);

}  // namespace unstarve::roofline
