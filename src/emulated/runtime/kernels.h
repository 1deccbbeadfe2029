#pragma once

#include "emulated/process/gpu.h"

namespace unstarve::emulated {

/// The kernel that `function` means: the address of a kernel's stub in the program, as its compiler
/// registered it, or a cudaKernel_t. nullptr: none.
Kernel* find_function(const void* function);

}  // namespace unstarve::emulated
