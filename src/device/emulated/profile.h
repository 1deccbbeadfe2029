#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace unstarve::device::emulated {

/// The numbers that make one GPU out of the emulator. Plain data; nothing about who feeds it.
struct Profile {
  std::string name;         // "a100": what a user asks for
  std::string device_name;  // what NVML says; starts with "Emulated"
  std::string source;       // where the step time comes from; shown with every result
  std::int64_t total_memory_bytes = 0;

  /// ResNet-50: seconds of GPU time per step of `reference_batch` images of 224 x 224.
  double reference_step_s = 0;
  int reference_batch = 0;

  /// Only the proportions between kernels come from these two; their sum is reference_step_s.
  double math_flops = 0;          // achieved in a convolution
  double memory_bytes_per_s = 0;  // achieved in an elementwise kernel

  double pinned_bytes_per_s = 0;       // DMA from or to page-locked memory
  double pageable_bytes_per_s = 0;     // one host thread staging through the driver's buffers
  std::int64_t launch_host_ns = 0;     // CPU time of the calling thread per launch
  std::int64_t launch_latency_ns = 0;  // from the launch call to the start on an idle stream
  std::int64_t kernel_fixed_ns = 0;    // part of a kernel that no batch size shrinks

  double idle_w = 0;
  double peak_w = 0;       // drawn at load 1 if no cap held it back
  double power_cap_w = 0;  // where the board holds itself
  double power_tau_s = 0;  // first-order lag of the power reading
  double ambient_c = 0;
  double celsius_per_w = 0;
  double temperature_tau_s = 0;
  double slowdown_c = 0;  // where the die holds its clocks back
  double idle_sm_mhz = 0;
  double boost_sm_mhz = 0;
  double memory_mhz = 0;
};

/// "a100" or "h100"; anything else is an error that lists the names.
Result<Profile> find_profile(std::string_view name);
std::vector<std::string> profile_names();

}  // namespace unstarve::device::emulated
