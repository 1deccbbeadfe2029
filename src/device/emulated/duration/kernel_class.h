#pragma once

#include <cstdint>
#include <string_view>

namespace unstarve::emulated {

struct RecordedKernel;

/// What a kernel's name tells of its work per launch, the grid apart.
struct KernelClass {
  double items_per_thread = 4;  // how many results each thread makes
  double bytes_per_item = 12;   // read and written for each, counted once
  double flops_per_item = 1;
  bool grid_stride = false;  // the grid fills the device and each thread loops: size unknown
  const RecordedKernel* recorded = nullptr;  // in the model's table; nullptr: not there
};

/// By the name alone, mangled or as a profiler shows it. Known: PyTorch's own kernels, by their
/// templates' arguments; of others the grid is all that is known.
KernelClass classify_kernel(std::string_view name);

}  // namespace unstarve::emulated
