#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "emulated/profile/host_call.h"

namespace unstarve::emulated {

/// Highest rates by the vendor's data sheet, dense, in operations or bytes a second.
struct PeakRates {
  double f64_flops = 0;
  double f64_tensor_flops = 0;
  double f32_flops = 0;
  double tf32_tensor_flops = 0;  // 0: has none; f32_flops is meant
  double f16_tensor_flops = 0;   // f16 and bf16 (where has_bf16)
  double f8_tensor_flops = 0;    // 0: has none
  double i8_tensor_ops = 0;
  double memory_bytes_per_s = 0;
};

/// How much of the highest rates long work reaches that is laid out well for the device: large
/// matrix products, copies of many megabytes. Ratios, 0..1.
struct AchievedRatios {
  double memory_ratio = 1;
  double f32_ratio = 1;
  double tf32_ratio = 1;
  double f16_ratio = 1;
  double f8_ratio = 1;
};

/// The numbers that make one kind of GPU; all of them from a file of `profile/data`, which names
/// the source of each. Plain data; nothing in it knows who feeds the device.
struct Profile {
  std::string name;         // "a100"
  std::string device_name;  // "Emulated NVIDIA A100-SXM4-80GB"
  std::vector<std::string> sources;

  int compute_major = 0;
  int compute_minor = 0;
  int multiprocessors = 0;
  int max_threads_per_multiprocessor = 2048;
  int max_blocks_per_multiprocessor = 32;
  std::int64_t shared_memory_per_block = 49152;
  std::int64_t shared_memory_per_block_optin = 0;
  std::int64_t shared_memory_per_multiprocessor = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t total_memory_bytes = 0;
  std::int64_t context_bytes = 0;  // taken by a process's context
  int memory_bus_bits = 0;
  int sm_clock_khz = 0;
  int memory_clock_khz = 0;
  bool has_bf16 = true;

  PeakRates peak;
  AchievedRatios achieved;

  // Transfers.
  double pinned_bytes_per_s = 0;     // DMA from or to page-locked memory, one direction
  double pageable_bytes_per_s = 0;   // the device's side of a staged copy
  std::int64_t copy_latency_ns = 0;  // what the shortest copy takes on the device
  double link_bytes_per_s = 0;       // between GPUs of one machine (NVLink or PCIe), each way
  std::int64_t link_latency_ns = 0;

  // The device's side of a launch.
  std::int64_t launch_latency_ns = 0;  // from the call to the start on an idle stream
  std::int64_t kernel_fixed_ns = 0;    // what the shortest kernel takes
  std::int64_t kernel_gap_ns = 0;      // between two kernels of a stream
  std::int64_t graph_gap_ns = 0;       // the same within a graph

  /// What each Call costs the host thread that makes it, ns.
  std::array<std::int64_t, static_cast<std::size_t>(Call::kCount)> host_ns = {};

  // The board, as NVML shows it (a model; docs/emulated_gpu.md).
  double idle_w = 0;
  double peak_w = 0;
  double power_cap_w = 0;
  double power_tau_s = 0.2;
  double ambient_c = 30;
  double celsius_per_w = 0;
  double temperature_tau_s = 25;
  double slowdown_c = 87;
  double idle_sm_mhz = 0;
  double boost_sm_mhz = 0;
  double memory_mhz = 0;
};

/// The profile in a JSON document, as docs/formats/gpu_profile.md describes it. An error names the
/// field.
Result<Profile> parse_profile(std::string_view json);
/// One that comes with unstarve ("a100_sxm_80gb", or an alias such as "a100"), or a file's path.
Result<Profile> find_profile(std::string_view name_or_path);
/// The same one's JSON document, which parse_profile() takes: what an emulation's settings carry.
Result<std::string> find_profile_document(std::string_view name_or_path);
std::vector<std::string> profile_names();

}  // namespace unstarve::emulated
