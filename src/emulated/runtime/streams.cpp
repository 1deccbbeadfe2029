#include "emulated/runtime/runtime_call.h"

/// Streams, host functions and events.
namespace unstarve::emulated {
namespace {

Outcome create(void** stream, unsigned flags, int priority) {
  if (stream == nullptr) return Outcome::kInvalidValue;
  return on_gpu([&](Gpu& gpu) { return create_stream(gpu, flags, priority, stream); });
}

Outcome make_event(void** event, unsigned flags) {
  if (event == nullptr) return Outcome::kInvalidValue;
  return on_gpu([&](Gpu&) { return create_event(flags, event); });
}

}  // namespace

UNSTARVE_CUDART cudaStreamCreate(void** stream) {
  const ApiCall call(Call::kStreamCreate);
  return remember(create(stream, 0, 0));
}

UNSTARVE_CUDART cudaStreamCreateWithFlags(void** stream, unsigned flags) {
  const ApiCall call(Call::kStreamCreate);
  return remember(create(stream, flags, 0));
}

UNSTARVE_CUDART cudaStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  const ApiCall call(Call::kStreamCreate);
  return remember(create(stream, flags, priority));
}

UNSTARVE_CUDART cudaStreamDestroy(void* stream) {
  const ApiCall call(Call::kStreamDestroy);
  if (reinterpret_cast<std::uintptr_t>(stream) <= 2) return remember(Outcome::kInvalidHandle);
  return remember(
      on_stream(stream, [](Gpu& gpu, Stream* found) { return gpu.destroy_stream(found); }));
}

UNSTARVE_CUDART cudaStreamSynchronize(void* stream) {
  const ApiCall call(Call::kStreamSynchronize);
  return remember(
      on_stream(stream, [](Gpu& gpu, Stream* found) { return gpu.synchronize(found); }));
}

UNSTARVE_CUDART cudaStreamQuery(void* stream) {
  const ApiCall call(Call::kStreamQuery);
  return remember(on_stream(stream, [](Gpu& gpu, Stream* found) { return gpu.query(found); }));
}

UNSTARVE_CUDART cudaStreamWaitEvent(void* stream, void* event, unsigned) {
  const ApiCall call(Call::kStreamWaitEvent);
  return remember(on_stream(stream, [&](Gpu& gpu, Stream* found) {
    return on_event(event, [&](Event* waited) { return gpu.wait_event(found, waited); });
  }));
}

UNSTARVE_CUDART cudaStreamGetPriority(void* stream, int* priority) {
  return remember(
      on_stream(stream, [&](Gpu&, Stream* found) { return answer(priority, priority_of(found)); }));
}

UNSTARVE_CUDART cudaStreamGetFlags(void* stream, unsigned* flags) {
  return remember(on_stream(stream, [&](Gpu&, Stream* found) {
    return answer(flags, blocks_on_default(found) ? 0U : cuda::kStreamNonBlocking);
  }));
}

UNSTARVE_CUDART cudaStreamGetId(void* stream, unsigned long long* id) {
  return remember(on_stream(stream, [&](Gpu&, Stream* found) {
    return answer(id, static_cast<unsigned long long>(id_of(found)));
  }));
}

UNSTARVE_CUDART cudaStreamGetDevice(void* stream, int* device) {
  return remember(
      on_stream(stream, [&](Gpu& gpu, Stream*) { return answer(device, gpu.index()); }));
}

UNSTARVE_CUDART cudaStreamGetAttribute(void* stream, int, void* value) {
  return remember(on_stream(stream, [&](Gpu&, Stream*) {
    return value != nullptr ? Outcome::kNotSupported : Outcome::kInvalidValue;
  }));
}

UNSTARVE_CUDART cudaStreamSetAttribute(void* stream, int, const void* value) {
  // Hints (which part of L2 to keep, priorities of memory) that no duration depends on.
  return remember(on_stream(stream, [&](Gpu&, Stream*) {
    return value != nullptr ? Outcome::kSuccess : Outcome::kInvalidValue;
  }));
}

UNSTARVE_CUDART cudaStreamAttachMemAsync(void* stream, void*, std::size_t, unsigned) {
  return remember(on_stream(stream, [](Gpu&, Stream*) { return Outcome::kSuccess; }));
}

UNSTARVE_CUDART cudaLaunchHostFunc(void* stream, void (*function)(void*), void* argument) {
  const ApiCall call(Call::kLaunchHostFunction);
  if (function == nullptr) return remember(Outcome::kInvalidValue);
  return remember(on_stream(stream, [&](Gpu& gpu, Stream* found) {
    return gpu.launch_host_function(found, function, argument);
  }));
}

UNSTARVE_CUDART cudaStreamAddCallback(void* stream, void (*function)(void*, Outcome, void*),
                                      void* argument, unsigned flags) {
  const ApiCall call(Call::kLaunchHostFunction);
  if (function == nullptr || flags != 0) return remember(Outcome::kInvalidValue);
  return remember(on_stream(stream, [&](Gpu& gpu, Stream* found) {
    auto callback = std::make_unique<StreamCallback>(StreamCallback{stream, function, argument});
    const Outcome outcome = gpu.launch_host_function(found, StreamCallback::call, callback.get());
    if (outcome == Outcome::kSuccess) static_cast<void>(callback.release());
    return outcome;
  }));
}

UNSTARVE_CUDART cudaEventCreate(void** event) {
  const ApiCall call(Call::kEventCreate);
  return remember(make_event(event, 0));
}

UNSTARVE_CUDART cudaEventCreateWithFlags(void** event, unsigned flags) {
  const ApiCall call(Call::kEventCreate);
  return remember(make_event(event, flags));
}

UNSTARVE_CUDART cudaEventDestroy(void* event) {
  const ApiCall call(Call::kEventDestroy);
  return remember(on_event(event, [](Event* found) { return destroy_event(found); }));
}

UNSTARVE_CUDART cudaEventRecord(void* event, void* stream) {
  const ApiCall call(Call::kEventRecord);
  return remember(on_stream(stream, [&](Gpu&, Stream* found) {
    return on_event(event, [&](Event* recorded) { return record_event(recorded, found); });
  }));
}

UNSTARVE_CUDART cudaEventRecordWithFlags(void* event, void* stream, unsigned) {
  return cudaEventRecord(event, stream);
}

UNSTARVE_CUDART cudaEventQuery(void* event) {
  const ApiCall call(Call::kEventQuery);
  return remember(on_event(event, [](Event* found) { return query_event(found); }));
}

UNSTARVE_CUDART cudaEventSynchronize(void* event) {
  const ApiCall call(Call::kEventSynchronize);
  return remember(on_event(event, [](Event* found) { return synchronize_event(found); }));
}

UNSTARVE_CUDART cudaEventElapsedTime(float* milliseconds, void* start, void* end) {
  if (milliseconds == nullptr) return remember(Outcome::kInvalidValue);
  return remember(on_event(start, [&](Event* first) {
    return on_event(end, [&](Event* last) { return elapsed_ms(first, last, milliseconds); });
  }));
}

UNSTARVE_CUDART cudaEventElapsedTime_v2(float* milliseconds, void* start, void* end) {
  return cudaEventElapsedTime(milliseconds, start, end);
}

}  // namespace unstarve::emulated
