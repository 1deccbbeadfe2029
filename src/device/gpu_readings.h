#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/reading.h"

namespace unstarve::device {

/// Bits of GpuReadings::throttle_reasons, as NVML numbers its clocks-event reasons.
namespace throttle {
inline constexpr std::uint64_t kIdle = 0x1;
inline constexpr std::uint64_t kApplicationClocks = 0x2;
inline constexpr std::uint64_t kSoftwarePowerCap = 0x4;
inline constexpr std::uint64_t kHardwareSlowdown = 0x8;
inline constexpr std::uint64_t kSyncBoost = 0x10;
inline constexpr std::uint64_t kSoftwareThermal = 0x20;
inline constexpr std::uint64_t kHardwareThermal = 0x40;
inline constexpr std::uint64_t kHardwarePowerBrake = 0x80;
}  // namespace throttle

struct GpuProcess {
  std::int64_t pid = 0;  // in the host's pid namespace: a container sees other numbers
  Reading<std::int64_t> memory_used_bytes;
};

/// An error that the driver reported of a GPU: NVIDIA calls its number an XID.
struct GpuError {
  std::int64_t xid = 0;
  std::optional<std::int64_t> gpu_instance = {};      // of MIG, where it is one's alone
  std::optional<std::int64_t> compute_instance = {};  // likewise
};

/// One value of the driver's own ring buffer.
struct UtilizationSample {
  std::int64_t wall_time_us = 0;  // since 1970, as the driver stamps it
  double utilization_ratio = 0;
};

/// What one GPU says at one moment. In a run the metric is named `gpu.` and the field's name.
struct GpuReadings {
  /// Fraction of the driver's sample window in which at least one kernel ran; copies do not count.
  /// unit: ratio 0..1.  source: NVML nvmlDeviceGetUtilizationRates, gpu.
  /// error: whole percents over a window of 1/6 to 1 s that the driver chooses; shorter gaps are
  ///   invisible, and one thread on the GPU reads as 1. Not given where the GPU is split by MIG.
  /// cost: one driver call, microseconds; the sampler reports its own total.
  Reading<double> utilization_ratio;

  /// Fraction of the driver's sample window in which device memory was read or written.
  /// unit: ratio 0..1.  source: NVML nvmlDeviceGetUtilizationRates, memory.
  /// error: as utilization_ratio; it is time with traffic, not a share of the peak bandwidth.
  /// cost: none beyond utilization_ratio, which the same call returns.
  Reading<double> memory_controller_ratio;

  /// Device memory allocated by anybody; of a GPU in MIG mode that of the job's instance, where it
  /// is known which that is.
  /// unit: bytes.  source: NVML nvmlDeviceGetMemoryInfo_v2, else nvmlDeviceGetMemoryInfo.
  /// error: exact to the driver's pages; the older call counts the driver's reserve as used.
  /// cost: one driver call.
  Reading<std::int64_t> memory_used_bytes;

  /// Power drawn by the board.
  /// unit: W.  source: NVML nvmlDeviceGetPowerUsage (mW).
  /// error: +-5 W by NVIDIA; an average over 1 s since Ampere (GA100: instantaneous).
  /// cost: one driver call.
  Reading<double> power_w;

  /// Energy since the driver was loaded (emulated: since the job made the device).
  /// unit: J.  source: NVML nvmlDeviceGetTotalEnergyConsumption (mJ), Volta and later.
  /// error: as power_w, integrated by the driver; differences are what is meaningful.
  /// cost: one driver call.
  Reading<double> energy_j;

  /// Temperature of the GPU die.
  /// unit: degrees Celsius.  source: NVML nvmlDeviceGetTemperature, sensor 0.
  /// error: whole degrees.
  /// cost: one driver call.
  Reading<double> temperature_c;

  /// Clock of the streaming multiprocessors, now.
  /// unit: MHz.  source: NVML nvmlDeviceGetClockInfo, clock 1.
  /// error: instantaneous; it moves faster than any sampler polls.
  /// cost: one driver call.
  Reading<double> sm_clock_mhz;

  /// Clock of the device memory, now.
  /// unit: MHz.  source: NVML nvmlDeviceGetClockInfo, clock 2.
  /// error: instantaneous.
  /// cost: one driver call.
  Reading<double> memory_clock_mhz;

  /// Why the clocks are lower than they could be, as bits of `throttle`.
  /// unit: bit mask.  source: NVML nvmlDeviceGetCurrentClocksEventReasons, or ...ThrottleReasons.
  /// error: instantaneous, so that a short slow-down between two polls is missed.
  /// cost: one driver call.
  Reading<std::uint64_t> throttle_reasons;

  /// Bytes the device sent over PCIe, cumulative.
  /// unit: bytes.  source: NVML nvmlDeviceGetFieldValues, field 197.
  /// error: the counter may wrap; emulated: copies only, without the bus's own overhead.
  /// cost: one driver call together with pcie_rx_bytes; the 20 ms blocking call is not used.
  Reading<std::uint64_t> pcie_tx_bytes;

  /// Bytes the device received over PCIe, cumulative.
  /// unit: bytes.  source: NVML nvmlDeviceGetFieldValues, field 198.
  /// error: as pcie_tx_bytes.
  /// cost: as pcie_tx_bytes.
  Reading<std::uint64_t> pcie_rx_bytes;

  /// Fraction of time the streaming multiprocessors had a warp assigned, mean over them.
  /// unit: ratio 0..1.  source: NVML GPM metric 2 between two samples, Hopper and later.
  /// error: refers to the time since the last read(), if that was at least 100 ms ago.
  /// cost: one GPM sample per read, taken for all GPM metrics together.
  Reading<double> sm_activity_ratio;

  /// Fraction of time any tensor pipe was active.
  /// unit: ratio 0..1.  source: NVML GPM metric 5, Hopper and later.
  /// error: as sm_activity_ratio.
  /// cost: none beyond sm_activity_ratio.
  Reading<double> tensor_activity_ratio;

  /// Fraction of the peak device memory bandwidth in use.
  /// unit: ratio 0..1.  source: NVML GPM metric 10, Hopper and later.
  /// error: as sm_activity_ratio.
  /// cost: none beyond sm_activity_ratio.
  Reading<double> dram_activity_ratio;

  /// Errors (XID) that the driver reported of the GPU since the first read().
  /// unit: count.  source: NVML nvmlEventSetWait_v2, nvmlEventTypeXidCriticalError.
  /// error: what came before the first read() is not seen; whose process it was is not told.
  ///   Errors of other MIG instances than the job's are left out.
  /// cost: one driver call that does not wait.
  Reading<std::int64_t> xid_errors;

  /// The number of the latest of them; kNotObserved while there is none.
  /// unit: XID.  source: as xid_errors.
  /// error: 999 is one that the driver does not know.
  /// cost: none beyond xid_errors.
  Reading<std::int64_t> last_xid;

  /// Those that came since the last read(), in order.
  std::vector<GpuError> new_errors;

  /// Processes with a compute context on the device, and the memory each holds.
  /// unit: bytes.  source: NVML nvmlDeviceGetComputeRunningProcesses, _v3, _v2 or plain.
  /// error: a process in another pid namespace has the host's pid.
  /// cost: one driver call.
  Reading<std::vector<GpuProcess>> processes;
};

}  // namespace unstarve::device
