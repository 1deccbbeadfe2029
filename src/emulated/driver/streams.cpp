#include "emulated/driver/driver_call.h"

/// Streams, host functions and events.
namespace unstarve::emulated {
namespace {

Outcome create_stream(void** stream, unsigned flags, int priority) {
  if (stream == nullptr) return Outcome::kInvalidValue;
  return on_context([&](Gpu& gpu) { return create_stream(gpu, flags, priority, stream); });
}

}  // namespace

UNSTARVE_CUDA cuStreamCreate(void** stream, unsigned flags) {
  const DriverCall call(Call::kStreamCreate);
  return create_stream(stream, flags, 0);
}

UNSTARVE_CUDA cuStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  const DriverCall call(Call::kStreamCreate);
  return create_stream(stream, flags, priority);
}

UNSTARVE_CUDA cuStreamDestroy_v2(void* stream) {
  const DriverCall call(Call::kStreamDestroy);
  if (reinterpret_cast<std::uintptr_t>(stream) <= 2) return Outcome::kInvalidHandle;
  return on_stream(stream, [](Gpu& gpu, Stream* found) { return gpu.destroy_stream(found); });
}

UNSTARVE_CUDA cuStreamSynchronize(void* stream) {
  const DriverCall call(Call::kStreamSynchronize);
  return on_stream(stream, [](Gpu& gpu, Stream* found) { return gpu.synchronize(found); });
}

UNSTARVE_CUDA cuStreamQuery(void* stream) {
  const DriverCall call(Call::kStreamQuery);
  return on_stream(stream, [](Gpu& gpu, Stream* found) { return gpu.query(found); });
}

UNSTARVE_CUDA cuStreamWaitEvent(void* stream, void* event, unsigned) {
  const DriverCall call(Call::kStreamWaitEvent);
  return on_stream(stream, [&](Gpu& gpu, Stream* found) {
    return on_event(event, [&](Event* waited) { return gpu.wait_event(found, waited); });
  });
}

UNSTARVE_CUDA cuStreamGetPriority(void* stream, int* priority) {
  return on_stream(stream,
                   [&](Gpu&, Stream* found) { return answer(priority, priority_of(found)); });
}

UNSTARVE_CUDA cuStreamGetFlags(void* stream, unsigned* flags) {
  return on_stream(stream, [&](Gpu&, Stream* found) {
    return answer(flags, blocks_on_default(found) ? 0U : cuda::kStreamNonBlocking);
  });
}

UNSTARVE_CUDA cuStreamGetId(void* stream, unsigned long long* id) {
  return on_stream(stream, [&](Gpu&, Stream* found) {
    return answer(id, static_cast<unsigned long long>(id_of(found)));
  });
}

UNSTARVE_CUDA cuStreamGetCtx(void* stream, void** context) {
  return on_stream(stream, [&](Gpu& gpu, Stream*) {
    return answer(context, static_cast<void*>(context_of(gpu.index())));
  });
}

UNSTARVE_CUDA cuStreamGetDevice(void* stream, int* device) {
  return on_stream(stream, [&](Gpu& gpu, Stream*) { return answer(device, gpu.index()); });
}

UNSTARVE_CUDA cuStreamAttachMemAsync(void* stream, cuda::DevicePointer, std::size_t, unsigned) {
  return on_stream(stream, [](Gpu&, Stream*) { return Outcome::kSuccess; });
}

UNSTARVE_CUDA cuStreamSetAttribute(void* stream, int, const void* value) {
  // Hints (which part of L2 to keep, priorities of memory) that no duration depends on.
  return on_stream(stream, [&](Gpu&, Stream*) {
    return value != nullptr ? Outcome::kSuccess : Outcome::kInvalidValue;
  });
}

UNSTARVE_CUDA cuLaunchHostFunc(void* stream, void (*function)(void*), void* argument) {
  const DriverCall call(Call::kLaunchHostFunction);
  if (function == nullptr) return Outcome::kInvalidValue;
  return on_stream(stream, [&](Gpu& gpu, Stream* found) {
    return gpu.launch_host_function(found, function, argument);
  });
}

UNSTARVE_CUDA cuStreamAddCallback(void* stream, void (*function)(void*, Outcome, void*),
                                  void* argument, unsigned flags) {
  const DriverCall call(Call::kLaunchHostFunction);
  if (function == nullptr || flags != 0) return Outcome::kInvalidValue;
  return on_stream(stream, [&](Gpu& gpu, Stream* found) {
    auto callback = std::make_unique<StreamCallback>(StreamCallback{stream, function, argument});
    const Outcome outcome = gpu.launch_host_function(found, StreamCallback::call, callback.get());
    if (outcome == Outcome::kSuccess) static_cast<void>(callback.release());
    return outcome;
  });
}

UNSTARVE_CUDA cuEventCreate(void** event, unsigned flags) {
  const DriverCall call(Call::kEventCreate);
  if (event == nullptr) return Outcome::kInvalidValue;
  return on_context([&](Gpu&) { return create_event(flags, event); });
}

UNSTARVE_CUDA cuEventDestroy_v2(void* event) {
  const DriverCall call(Call::kEventDestroy);
  return on_event(event, [](Event* found) { return destroy_event(found); });
}

UNSTARVE_CUDA cuEventRecord(void* event, void* stream) {
  const DriverCall call(Call::kEventRecord);
  return on_stream(stream, [&](Gpu&, Stream* found) {
    return on_event(event, [&](Event* recorded) { return record_event(recorded, found); });
  });
}

UNSTARVE_CUDA cuEventRecordWithFlags(void* event, void* stream, unsigned) {
  return cuEventRecord(event, stream);
}

UNSTARVE_CUDA cuEventQuery(void* event) {
  const DriverCall call(Call::kEventQuery);
  return on_event(event, [](Event* found) { return query_event(found); });
}

UNSTARVE_CUDA cuEventSynchronize(void* event) {
  const DriverCall call(Call::kEventSynchronize);
  return on_event(event, [](Event* found) { return synchronize_event(found); });
}

UNSTARVE_CUDA cuEventElapsedTime(float* milliseconds, void* start, void* end) {
  if (milliseconds == nullptr) return Outcome::kInvalidValue;
  return on_event(start, [&](Event* first) {
    return on_event(end, [&](Event* last) { return elapsed_ms(first, last, milliseconds); });
  });
}

UNSTARVE_CUDA cuEventElapsedTime_v2(float* milliseconds, void* start, void* end) {
  return cuEventElapsedTime(milliseconds, start, end);
}

}  // namespace unstarve::emulated
