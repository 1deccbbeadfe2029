#pragma once

#include <cstdint>
#include <string>

#include "base/reading.h"
#include "device/cuda/nvml_library.h"

namespace unstarve::device {

/// What joins two GPUs of a machine: "NVLink", or what is common to their ways over PCIe: "one
/// PCIe switch", "PCIe switches", "one host bridge", "host bridges of one NUMA node", "two NUMA
/// nodes", "one board".
/// unit: words.  source: NVML, P2P status and topology.
/// error: by way of NVLink says not over how many.  cost: two calls.
Reading<std::string> link_between(const NvmlLibrary& nvml, nvml::DeviceHandle device,
                                  nvml::DeviceHandle other);

/// How many of a GPU's NVLinks are up; absent where it has none, or NVML does not say.
/// unit: links.  source: NVML.  error: none.  cost: a call for each link.
Reading<std::int64_t> nvlinks_up(const NvmlLibrary& nvml, nvml::DeviceHandle device);

}  // namespace unstarve::device
