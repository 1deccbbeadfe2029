#pragma once

#include <vector>

#include "device/gpu_monitor.h"
#include "observe/outside/samples/source.h"
#include "trace/run_writer.h"

namespace unstarve::observe {

/// Every GPU of the machine, ten times a second. Subjects `gpu0`, `gpu1`, ...
class GpuSource final : public Source {
 public:
  GpuSource(device::GpuMonitor& monitor, trace::RunWriter& writer)
      : monitor_(monitor), writer_(writer) {}
  std::string_view name() const override { return "gpu"; }
  void sample(const Tick& tick, SampleBook& book) override;
  /// A GPU may end the job by its error.
  void finish(std::int64_t now_ns, SampleBook& book) override;

 private:
  void find_devices();
  void describe_instances();
  device::GpuReadings read(std::int32_t index, std::int64_t now_ns);

  device::GpuMonitor& monitor_;
  trace::RunWriter& writer_;
  std::vector<device::GpuDescription> devices_;
};

}  // namespace unstarve::observe
