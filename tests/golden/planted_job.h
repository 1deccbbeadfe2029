#pragma once

#include <cstdint>
#include <string>

#include "trace/timeline/timeline.h"

namespace unstarve::golden {

/// Plays a training job on one host thread and one device, so that a test can plant the cause for
/// which the device idles. Times are in microseconds.
///
///   PlantedJob job;
///   job.begin_step(); job.wait(60'000); job.kernels(100, 400, 5); job.end_step();
///   trace::Timeline timeline = job.take();
///
/// Kernels and copies run in order on stream 7, a launch latency of 3 us after their call at the
/// earliest; communication runs on stream 20 after the work launched before it.
class PlantedJob {
 public:
  PlantedJob();

  void begin_step();
  void end_step();
  /// The training thread inside the loader's `__next__`.
  void wait(double us, std::int64_t ready_batches = 0);
  /// Python, between calls.
  void host(double us) { now_ += us; }
  /// `count` kernels of `us` each, whose launch calls take `call_us` each.
  void kernels(int count, double us, double call_us);
  /// A copy to the device; the call of a pageable one comes back when it has ended.
  void copy_in(std::int64_t bytes, double us, bool pageable);
  /// `.item()`: a small copy to pageable memory in whose call the host waits.
  void item();
  void synchronize();
  /// An all-reduce. With `behind_compute` it waits for the kernels so far and kernels wait for it.
  void all_reduce(double us, bool behind_compute);
  /// A batch being made by the thread that waits: its CPU, decode and collate shares.
  void fetch(double us, double cpu, double decode, double collate);

  trace::Timeline take();

 private:
  std::int64_t call(double us, const char* name, trace::HostCallKind kind);
  trace::DeviceOp op(double start, double us, const char* name, trace::DeviceOpKind kind);

  trace::Timeline timeline_;
  trace::NameTable names_;
  double now_ = 1000;
  double step_start_ = 0;
  double compute_free_ = 0;
  double communication_free_ = 0;
  std::int64_t correlation_ = 0;
};

/// The Timeline as a PyTorch profiler would have written it (Kineto JSON). Fetches, loaders and
/// queue depths have no place there and are left out.
std::string to_kineto_json(const trace::Timeline& timeline);

}  // namespace unstarve::golden
