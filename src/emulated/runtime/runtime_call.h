#pragma once

#include "emulated/context/context.h"
#include "emulated/context/handles.h"
#include "emulated/engine/outcome.h"
#include "emulated/process/api_call.h"
#include "emulated/process/gpu.h"

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

/// `act(gpu, stream)` with the stream that a program means, and its GPU.
template <class Act>
Outcome on_stream(const void* handle, Act act) {
  return on_gpu([&](Gpu& gpu) { return on_stream_of(gpu, handle, act); });
}

/// A stream of the functions for per-thread default streams (_ptsz): 0 means the thread's own.
inline void* per_thread(void* stream) {
  return stream == nullptr ? reinterpret_cast<void*>(std::uintptr_t{2}) : stream;
}

}  // namespace unstarve::emulated
