#pragma once

#include "device/emulated/abi/driver_abi.h"
#include "device/emulated/context/context.h"
#include "device/emulated/engine/outcome.h"
#include "device/emulated/process/api_call.h"
#include "device/emulated/process/gpu.h"

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

/// `act(gpu)` with the GPU that a CUdevice is.
template <class Act>
Outcome on_device(int device, Act act) {
  const Outcome why = usable();
  if (why != Outcome::kSuccess) return why;
  Gpu* const gpu = gpu_at(device);
  return gpu != nullptr ? act(*gpu) : Outcome::kInvalidDevice;
}

/// `act(gpu, stream)` with the stream that a program means.
template <class Act>
Outcome on_stream(const void* handle, Act act) {
  return on_context([&](Gpu& gpu) {
    Stream* const stream = gpu.find_stream(handle);
    return stream != nullptr ? act(*gpu_of(stream), stream) : Outcome::kInvalidHandle;
  });
}

/// `act(event)` with the event that a program means.
template <class Act>
Outcome on_event(const void* handle, Act act) {
  const Outcome why = usable();
  if (why != Outcome::kSuccess) return why;
  Event* const event = find_event(handle);
  return event != nullptr ? act(event) : Outcome::kInvalidHandle;
}

/// Fills in what a program asked for; without a place to put it the argument is not valid.
template <class T>
Outcome answer(T* out, T value) {
  if (out == nullptr) return Outcome::kInvalidValue;
  *out = value;
  return Outcome::kSuccess;
}

inline void* address_of(cuda::DevicePointer pointer) { return reinterpret_cast<void*>(pointer); }
inline cuda::DevicePointer pointer_to(const void* address) {
  return reinterpret_cast<cuda::DevicePointer>(address);
}

}  // namespace unstarve::emulated
