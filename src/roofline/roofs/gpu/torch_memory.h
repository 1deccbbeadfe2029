#pragma once

#include <cstdint>
#include <string>

#include "roofline/roofs/session.h"

namespace unstarve::roofline {

/// What kernels of torch reach of a GPU's memory, where the driver has only copies and fills.
struct TorchMemoryOptions {
  std::string python;             // an interpreter; torch is imported by it alone
  std::string device;             // "cuda:0"
  std::uint64_t array_bytes = 0;  // of each of three arrays
  std::int64_t duration_ns = 0;   // importing torch is not in it
};

/// Adds `PREFIX.read` (a sum) and `PREFIX.triad` (a = b + 3 c, the bytes of all three), bytes a
/// second, in a process of its own, or why they are absent. `peak` is the memory's rate, which they
/// cannot be above; 0: not known.
void measure_torch_memory(const TorchMemoryOptions& options, const std::string& prefix, double peak,
                          Session& session);

}  // namespace unstarve::roofline
