#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "device/gpu_monitor.h"
#include "host/host_files.h"
#include "observe/inside/ring_directory.h"
#include "observe/outside/live_view.h"
#include "observe/outside/own_source.h"
#include "observe/outside/samples/sample_book.h"
#include "observe/outside/samples/source.h"
#include "trace/job_gpu.h"
#include "trace/run_writer.h"

namespace unstarve::observe {

struct SamplerOptions {
  std::int64_t period_ns = 100'000'000;  // 10 Hz
  std::int64_t commit_every_ns = 1'000'000'000;
  /// CPU time of a thread that fetches between two samples of the code that it runs; 0: there are
  /// none. 50 a second say in 10 s of fetches which library takes 10 % of them, to 3 %.
  std::int64_t code_period_ns = 20'000'000;
};

/// What the sampler reads, and the run that it writes to; all of it outlives the sampler.
struct SamplerWiring {
  const Clock* clock = nullptr;
  const host::HostFiles* files = nullptr;
  device::GpuMonitor* gpus = nullptr;  // may be null: no GPU is watched
  trace::RunWriter* writer = nullptr;
};

/// How watching went, for the end of a run.
struct ObservationReport {
  std::int64_t ticks = 0;
  std::int64_t ticks_failed = 0;   // ended early, by an exception
  std::int64_t ticks_skipped = 0;  // because an earlier one took longer than a period
  std::int64_t late_ns_max = 0;
  std::int64_t cpu_ns = 0;  // of the sampling thread, all ticks
  std::int64_t elapsed_ns = 0;
  std::uint64_t ring_records_lost = 0;
  trace::WriteLosses write_losses;
  std::vector<std::string> remarks;
};

/// One reading of everything after the other, without a thread of its own: Observation drives it
/// by a real clock, tests by hand. Thread rule: one thread at a time.
class Sampler {
 public:
  Sampler(const SamplerWiring& wiring, const SamplerOptions& options, pid_t job);

  /// When the next tick is due, on a grid that starts with the first: lateness does not add up.
  std::int64_t next_deadline_ns() const { return next_deadline_ns_; }
  /// Reads every source, drains the rings, and commits about every second.
  void tick();
  /// The last reading: everything that the rings still hold goes into the run.
  ObservationReport finish();

  LiveView live() const;

 private:
  Tick begin_tick();
  void read_everything(const Tick& tick);
  void look_last();
  void drain_rings();
  void commit_if_due(std::int64_t now_ns);
  void remember_utilization();

  SamplerWiring wiring_;
  SamplerOptions options_;
  SampleBook book_;
  std::vector<std::unique_ptr<Source>> sources_;
  FetchSource& fetches_;      // one of sources_
  LibrarySource& libraries_;  // another
  TrainingSource& training_;  // another
  WorkerSource& workers_;     // another
  CountingSink rows_;
  RingDirectory rings_;
  OwnSource* own_ = nullptr;  // one of sources_
  std::int64_t started_ns_;
  std::int64_t next_deadline_ns_;
  std::int64_t next_full_second_ns_;
  std::int64_t next_commit_ns_;
  bool committed_ = true;
  ObservationReport report_;
  std::deque<Reading<double>> utilization_;
  trace::JobGpu gpu_;  // whose that is
  bool gpu_is_known_ = false;
};

}  // namespace unstarve::observe
