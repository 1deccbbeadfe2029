#pragma once

#include <string>
#include <vector>

#include "diagnose/signals/host_signals.h"
#include "observe/import/gpu_log/gpu_log.h"

namespace unstarve::examine {

/// A log of nvidia-smi as a diagnosis takes it.
struct LoggedGpus {
  diagnose::HostSignals worst;       // of the GPU that is used least
  std::vector<std::string> remarks;  // a sentence on each GPU, and what was lost
};

LoggedGpus describe_log(const observe::GpuLog& log);

}  // namespace unstarve::examine
