#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace unstarve::recording {

/// A GPU of the process, by the driver's documented calls.
struct Device {
  int index = 0;  // of the machine, as NVML counts, whatever number the process gives it
  std::string name;
  std::string pci_bus_id;
  std::uint64_t total_memory_bytes = 0;
};

/// The GPU that the process numbers `ordinal`. CUDA is initialised. Nothing: the driver knows none.
std::optional<Device> find_device(std::uint32_t ordinal);

/// The numbers in a value of CUDA_VISIBLE_DEVICES, up to the first entry that is none; nullptr:
/// none.
std::vector<int> visible_numbers(const char* variable);

}  // namespace unstarve::recording
