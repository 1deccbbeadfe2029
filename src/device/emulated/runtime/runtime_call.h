#pragma once

#include "device/emulated/context/context.h"
#include "device/emulated/engine/outcome.h"
#include "device/emulated/process/api_call.h"
#include "device/emulated/process/gpu.h"

/// What all functions of the runtime share. Their numbers are cudaError_t's (engine/outcome.h).
///
///   UNSTARVE_CUDART cudaEventRecord(void* event, void* stream) {
///     const ApiCall call(Call::kEventRecord);
///     return remember(on_stream(stream, [&](Gpu&, Stream* s) { ... }));
///   }
#define UNSTARVE_CUDART extern "C" __attribute__((visibility("default"))) Outcome

namespace unstarve::emulated {

/// Keeps an error for cudaGetLastError of this thread, and gives the outcome back.
Outcome remember(Outcome outcome);
/// cudaGetLastError, which clears it, and cudaPeekAtLastError.
Outcome take_last_error();
Outcome last_error();

/// `act(gpu)` with the calling thread's GPU.
template <class Act>
Outcome on_gpu(Act act) {
  Outcome why = Outcome::kSuccess;
  Gpu* const gpu = runtime_gpu(&why);
  return gpu != nullptr ? act(*gpu) : why;
}

/// `act(gpu)` with the GPU of that index, without making it the thread's.
template <class Act>
Outcome on_device(int index, Act act) {
  const Outcome why = usable();
  if (why != Outcome::kSuccess) return why;
  Gpu* const gpu = gpu_at(index);
  return gpu != nullptr ? act(*gpu) : Outcome::kInvalidDevice;
}

/// `act(gpu, stream)` with the stream that a program means, and its GPU.
template <class Act>
Outcome on_stream(const void* handle, Act act) {
  return on_gpu([&](Gpu& gpu) {
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

/// A stream of the functions for per-thread default streams (_ptsz): 0 means the thread's own.
inline void* per_thread(void* stream) {
  return stream == nullptr ? reinterpret_cast<void*>(std::uintptr_t{2}) : stream;
}

}  // namespace unstarve::emulated
