#pragma once

#include <memory>

#include "emulated/abi/runtime_abi.h"
#include "emulated/process/gpu.h"

/// What functions of the driver and of the runtime do alike with the handles that programs pass.
namespace unstarve::emulated {

/// `act(gpu)` with the GPU of that index, without making it the thread's.
template <class Act>
Outcome on_device(int index, Act act) {
  const Outcome why = usable();
  if (why != Outcome::kSuccess) return why;
  Gpu* const gpu = gpu_at(index);
  return gpu != nullptr ? act(*gpu) : Outcome::kInvalidDevice;
}

/// `act(event)` with the event that a program means.
template <class Act>
Outcome on_event(const void* handle, Act act) {
  const Outcome why = usable();
  if (why != Outcome::kSuccess) return why;
  Event* const event = find_event(handle);
  return event != nullptr ? act(event) : Outcome::kInvalidHandle;
}

/// `act(gpu, stream)` with the stream of `gpu` that a program means, and the GPU that it is of.
template <class Act>
Outcome on_stream_of(Gpu& gpu, const void* handle, Act act) {
  Stream* const stream = gpu.find_stream(handle);
  return stream != nullptr ? act(*gpu_of(stream), stream) : Outcome::kInvalidHandle;
}

/// Fills in what a program asked for; without a place to put it the argument is not valid.
template <class T>
Outcome answer(T* out, T value) {
  if (out == nullptr) return Outcome::kInvalidValue;
  *out = value;
  return Outcome::kSuccess;
}

/// A stream by the flags of cudaStreamCreateWithPriority and cuStreamCreateWithPriority.
inline Outcome create_stream(Gpu& gpu, unsigned flags, int priority, void** out) {
  if ((flags & ~cuda::kStreamNonBlocking) != 0) return Outcome::kInvalidValue;
  Stream* made = nullptr;
  const Outcome outcome = gpu.create_stream(flags != cuda::kStreamNonBlocking, priority, &made);
  if (outcome == Outcome::kSuccess) *out = made;
  return outcome;
}

/// An event by the flags of cudaEventCreateWithFlags and cuEventCreate.
inline Outcome create_event(unsigned flags, void** out) {
  constexpr unsigned kKnown =
      cuda::kEventBlockingSync | cuda::kEventDisableTiming | cuda::kEventInterprocess;
  const bool timing = (flags & cuda::kEventDisableTiming) == 0;
  const bool shared_and_timed = timing && (flags & cuda::kEventInterprocess) != 0;
  if ((flags & ~kKnown) != 0 || shared_and_timed) return Outcome::kInvalidValue;
  Event* made = nullptr;
  const Outcome outcome = create_event(timing, (flags & cuda::kEventBlockingSync) != 0, &made);
  if (outcome == Outcome::kSuccess) *out = made;
  return outcome;
}

/// The function of cudaStreamAddCallback, cuStreamAddCallback, which wants to know the stream and
/// that all is well.
struct StreamCallback {
  void* stream;
  void (*function)(void* stream, Outcome status, void* argument);
  void* argument;

  /// A host function's: `packed` is a StreamCallback of its own.
  static void call(void* packed) {
    const std::unique_ptr<StreamCallback> callback(static_cast<StreamCallback*>(packed));
    callback->function(callback->stream, Outcome::kSuccess, callback->argument);
  }
};

}  // namespace unstarve::emulated
