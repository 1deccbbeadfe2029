#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/reading.h"
#include "base/result.h"
#include "device/gpu_readings.h"

namespace unstarve::device {

/// A part of a GPU in MIG mode, which is a GPU of its own to CUDA.
struct MigInstance {
  std::int32_t index = 0;
  std::string name;  // "NVIDIA A100-SXM4-40GB MIG 1g.5gb"
  std::string uuid;  // "MIG-..."
  Reading<std::int64_t> gpu_instance = {};
  Reading<std::int64_t> compute_instance = {};
  Reading<std::int64_t> slices = {};  // of the GPU's seven
  Reading<std::int64_t> total_memory_bytes = {};
};

struct GpuDescription {
  std::int32_t index = 0;
  std::string name;  // an emulated one's starts with "Emulated"
  std::string uuid;
  Reading<std::int64_t> total_memory_bytes;
  bool emulated = false;
  Reading<bool> mig_mode = {};  // absent: the GPU cannot be split, or does not say
  std::vector<MigInstance> instances = {};
  /// Index into `instances` of the job's, which name, memory and processes are of. None: there is
  /// no telling which it is, and they are the whole GPU's.
  std::optional<std::size_t> job_instance = {};
};

/// Watches the GPUs of this machine from outside the job.
///
///   auto monitor = open_gpu_monitor({}, clock);
///   const auto gpus = (*monitor)->enumerate();
///   for (const GpuDescription& gpu : *gpus) (*monitor)->read(gpu.index);
///
/// Thread rule: one thread at a time. Lifetime: closes the driver library when destroyed.
class GpuMonitor {
 public:
  virtual ~GpuMonitor() = default;

  /// The devices there are now. May be called again: an emulated GPU appears when its job starts,
  /// a real one may be lost. An empty list is no error.
  virtual Result<std::vector<GpuDescription>> enumerate() = 0;

  /// Everything one device says. Readings that it cannot give are absent; only an index that
  /// enumerate() never gave is an error.
  virtual Result<GpuReadings> read(std::int32_t index) = 0;

  /// Utilisation samples of the driver's own buffer that are newer than those of the last call.
  virtual Result<std::vector<UtilizationSample>> utilization_samples(std::int32_t index) = 0;

  /// For people: where the readings come from, or why there are none.
  virtual std::string source() const = 0;
};

}  // namespace unstarve::device
