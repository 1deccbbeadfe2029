#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace unstarve::emulated {

/// A MIG instance that a GPU is said to be split into: what NVML shows of it. CUDA knows nothing of
/// it, so that a job has the whole GPU; what it uses counts as the first instance's.
struct NvmlInstance {
  int gpu = 0;
  int index = 0;
  int slices = 0;  // of the GPU's seven
  std::int64_t gpu_memory_bytes = 0;

  std::uint32_t gpu_instance() const { return static_cast<std::uint32_t>(index + 1); }
  std::string uuid() const;
  /// "MIG 1g.10gb".
  std::string kind() const;
  std::int64_t memory_bytes() const;
};

/// Of UNSTARVE_EMULATED_MIG, "3,2,1": the slices of each instance, of every GPU. Empty: the GPUs
/// are whole, also where it says what no GPU can be split into.
std::vector<int> parse_slices(std::string_view text);

}  // namespace unstarve::emulated
