#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "device/gpu_monitor.h"
#include "host/host_files.h"
#include "report/live/live_job.h"

namespace unstarve::sink {

/// The GPUs of this machine that no watched job has, by the driver's library.
///
///   OtherGpus others(clock);
///   const std::vector<report::OtherGpu> gpus = others.look(jobs.look(60, 0), 60);
///
/// Thread rule: one thread at a time.
class OtherGpus {
 public:
  explicit OtherGpus(const Clock& clock);
  /// With another source of readings than the driver; null: none.
  OtherGpus(const Clock& clock, std::unique_ptr<device::GpuMonitor> monitor,
            host::HostFiles files = host::HostFiles())
      : clock_(clock), monitor_(std::move(monitor)), files_(std::move(files)) {}

  /// Reads those that none of `jobs` has; each call in another second adds a value to their curves.
  std::vector<report::OtherGpu> look(std::span<const report::LiveJob> jobs, std::int64_t curve_s);

 private:
  report::OtherGpu read(const device::GpuDescription& gpu, std::int64_t curve_s);
  std::vector<report::GpuProcess> named(const std::vector<device::GpuProcess>& processes) const;

  const Clock& clock_;
  std::unique_ptr<device::GpuMonitor> monitor_;  // null: there is no driver
  host::HostFiles files_;
  std::int64_t second_ = 0;  // of the last look
  bool is_new_second_ = false;
  std::map<std::string, std::deque<double>> curves_;  // by UUID
};

}  // namespace unstarve::sink
