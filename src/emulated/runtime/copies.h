#pragma once

#include "emulated/abi/runtime_abi.h"
#include "emulated/process/gpu.h"

namespace unstarve::emulated {

/// Checks a copy of the runtime's, and puts it on the stream that `stream` means.
Outcome copy_memory(const Copy2d& copy, cuda::MemcpyKind kind, void* stream);

}  // namespace unstarve::emulated
