#include "device/monitor/open_gpu_monitor.h"

#include "base/clock.h"
#include "device/absent/absent_monitor.h"
#include "device/cuda/nvml_library.h"
#include "device/cuda/nvml_monitor.h"

namespace unstarve::device {

Result<std::unique_ptr<GpuMonitor>> open_gpu_monitor(const GpuMonitorOptions& options,
                                                     const Clock& clock) {
  const bool asked_for = !options.nvml_path.empty();
  Result<NvmlLibrary> library =
      NvmlLibrary::open(asked_for ? options.nvml_path : options.system_nvml);
  if (library) {
    return std::unique_ptr<GpuMonitor>(
        std::make_unique<NvmlMonitor>(std::move(*library), clock, options.visible_devices));
  }
  if (asked_for) return forward_error(library);
  return std::unique_ptr<GpuMonitor>(std::make_unique<AbsentMonitor>(library.error().message));
}

}  // namespace unstarve::device
