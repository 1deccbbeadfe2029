#pragma once

#include <cstddef>
#include <cstring>

#include "emulated/process/api_call.h"
#include "emulated/process/gpu.h"

/// How a call of a math library becomes work on an emulated GPU.
///
///   const Outcome outcome = submit(handle->target, "emulated cublasSgemm", MatmulWork{...});
namespace unstarve::emulated {

/// Where a handle's work goes: the GPU that was current when the handle was made, and the stream
/// that it was given since, as the program passed it.
struct Target {
  int gpu = 0;
  const void* stream = nullptr;
};

/// The target of a handle made now. kSuccess: there is such a GPU.
inline Outcome current_target(Target* target) {
  if (const Outcome outcome = usable(); outcome != Outcome::kSuccess) return outcome;
  *target = {current_gpu()->index(), nullptr};
  return Outcome::kSuccess;
}

/// Calls `use(gpu, stream)` for a target that still exists.
template <class Use>
Outcome on_stream(const Target& target, Use use) {
  Gpu* const gpu = gpu_at(target.gpu);
  if (gpu == nullptr) return Outcome::kNotInitialized;
  Stream* const stream = gpu->find_stream(target.stream);
  if (stream == nullptr) return Outcome::kInvalidHandle;
  return use(*gpu, stream);
}

/// One kernel of a library: launched as the program's own are. `name` is a literal.
template <class Work>
Outcome submit(const Target& target, const char* name, const Work& work) {
  return on_stream(target, [&](Gpu& gpu, Stream* stream) {
    const ApiCall call(Call::kLaunchKernel);
    return gpu.run(stream, name, work);
  });
}

/// Work that a library does in `work.kernels` kernels one after the other: so many launches.
inline Outcome submit_split(const Target& target, const char* name, OtherWork work) {
  const int kernels = work.kernels < 1 ? 1 : work.kernels;
  work.flops /= kernels;
  work.bytes /= kernels;
  work.kernels = 1;
  for (int i = 0; i < kernels; ++i) {
    const Outcome outcome = submit(target, name, work);
    if (outcome != Outcome::kSuccess) return outcome;
  }
  return Outcome::kSuccess;
}

/// A result that a call leaves in the host's memory: waits for the stream, then writes zeros.
inline Outcome wait_for_zeros(const Target& target, void* result, std::size_t bytes) {
  const Outcome outcome =
      on_stream(target, [](Gpu& gpu, Stream* stream) { return gpu.synchronize(stream); });
  if (outcome == Outcome::kSuccess && result != nullptr) std::memset(result, 0, bytes);
  return outcome;
}

/// The outcome in a library's own status, for the libraries that tell no more apart.
template <class Status>
Status status_as(Outcome outcome) {
  switch (outcome) {
    case Outcome::kSuccess: return Status::kSuccess;
    case Outcome::kOutOfMemory: return Status::kAllocFailed;
    case Outcome::kNotInitialized:
    case Outcome::kNoDevice: return Status::kNotInitialized;
    case Outcome::kInvalidHandle:
    case Outcome::kInvalidValue: return Status::kInvalidValue;
    default: return Status::kExecutionFailed;
  }
}

}  // namespace unstarve::emulated
