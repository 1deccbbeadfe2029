#pragma once

#include "emulated/abi/driver_abi.h"
#include "emulated/context/context.h"
#include "emulated/context/handles.h"
#include "emulated/engine/outcome.h"
#include "emulated/process/api_call.h"
#include "emulated/process/gpu.h"

/// What all functions of the driver share. Their numbers are CUresult's (engine/outcome.h); unlike
/// the runtime's, nothing is remembered, and without a current context most of them fail.
#define UNSTARVE_CUDA extern "C" __attribute__((visibility("default"))) Outcome

namespace unstarve::emulated {

/// A call that a profiler sees as the driver's.
class DriverCall : public ApiCall {
 public:
  explicit DriverCall(Call kind) : ApiCall(kind, true) {}
};

/// `act(gpu)` with the GPU of the calling thread's context.
template <class Act>
Outcome on_context(Act act) {
  Outcome why = Outcome::kSuccess;
  Gpu* const gpu = driver_gpu(&why);
  return gpu != nullptr ? act(*gpu) : why;
}

/// `act(gpu, stream)` with the stream that a program means.
template <class Act>
Outcome on_stream(const void* handle, Act act) {
  return on_context([&](Gpu& gpu) { return on_stream_of(gpu, handle, act); });
}

inline void* address_of(cuda::DevicePointer pointer) { return reinterpret_cast<void*>(pointer); }
inline cuda::DevicePointer pointer_to(const void* address) {
  return reinterpret_cast<cuda::DevicePointer>(address);
}

}  // namespace unstarve::emulated
