#include "device/emulated/runtime/runtime_call.h"

/// Events.
namespace unstarve::emulated {
namespace {

constexpr unsigned kKnownFlags =
    cuda::kEventBlockingSync | cuda::kEventDisableTiming | cuda::kEventInterprocess;

Outcome create(void** event, unsigned flags) {
  const bool timing = (flags & cuda::kEventDisableTiming) == 0;
  const bool shared_and_timed = timing && (flags & cuda::kEventInterprocess) != 0;
  if (event == nullptr || (flags & ~kKnownFlags) != 0 || shared_and_timed) {
    return Outcome::kInvalidValue;
  }
  return on_gpu([&](Gpu&) {
    Event* made = nullptr;
    const bool blocking = (flags & cuda::kEventBlockingSync) != 0;
    const Outcome outcome = create_event(timing, blocking, &made);
    if (outcome == Outcome::kSuccess) *event = made;
    return outcome;
  });
}

}  // namespace

UNSTARVE_CUDART cudaEventCreate(void** event) {
  const ApiCall call(Call::kEventCreate);
  return remember(create(event, 0));
}

UNSTARVE_CUDART cudaEventCreateWithFlags(void** event, unsigned flags) {
  const ApiCall call(Call::kEventCreate);
  return remember(create(event, flags));
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
