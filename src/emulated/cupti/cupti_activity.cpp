// CUPTI's activity functions. Nothing is printed and no exception leaves them: they are called from
// C, in somebody else's program.
#include "emulated/cupti/observer.h"
#include "emulated/cupti/subscriber.h"
#include "emulated/cupti/tracer.h"
#include "emulated/process/gpu.h"

#define UNSTARVE_CUPTI extern "C" __attribute__((visibility("default"))) cupti::Code

using namespace unstarve;
using namespace unstarve::emulated;
using cupti::Code;

namespace {

/// Calls `body`; whatever it throws (it can only be the memory that is short) is a code.
template <class Body>
Code guarded(Body body) noexcept {
  try {
    return body();
  } catch (...) {
    return Code::kOutOfMemory;
  }
}

Code enable(std::uint32_t kind, bool on) noexcept {
  return guarded([&] {
    if (on && usable() != Outcome::kSuccess) return Code::kNotInitialized;
    // What was launched by now and has ended is still recorded.
    if (!on) flush_records();
    const Code result = tracer().enable(kind, on);
    if (result == Code::kNotSupported) report_missing("libcupti", "cuptiActivityEnable");
    update_sink();
    return result;
  });
}

Code enable_call(bool driver, std::uint32_t call, std::uint8_t on) noexcept {
  return guarded([&] {
    const Code result = tracer().enable_call(driver, call, on != 0);
    update_sink();
    return result;
  });
}

}  // namespace

UNSTARVE_CUPTI cuptiActivityEnable(std::uint32_t kind) { return enable(kind, true); }

UNSTARVE_CUPTI cuptiActivityDisable(std::uint32_t kind) { return enable(kind, false); }

// There is one context for each GPU, and what is recorded of one is recorded of all.
UNSTARVE_CUPTI cuptiActivityEnableContext(void* /*context*/, std::uint32_t kind) {
  return enable(kind, true);
}

UNSTARVE_CUPTI cuptiActivityDisableContext(void* /*context*/, std::uint32_t kind) {
  return enable(kind, false);
}

UNSTARVE_CUPTI cuptiActivityEnableRuntimeApi(std::uint32_t call, std::uint8_t on) {
  return enable_call(false, call, on);
}

UNSTARVE_CUPTI cuptiActivityEnableDriverApi(std::uint32_t call, std::uint8_t on) {
  return enable_call(true, call, on);
}

UNSTARVE_CUPTI cuptiActivityEnableLatencyTimestamps(std::uint8_t on) {
  return guarded([&] {
    tracer().enable_latency(on != 0);
    return Code::kSuccess;
  });
}

// Those of launches that have none of the attributes.
UNSTARVE_CUPTI cuptiActivityEnableLaunchAttributes(std::uint8_t /*on*/) { return Code::kSuccess; }

// Of records of a kind that cannot be enabled.
UNSTARVE_CUPTI cuptiActivityEnableCudaEventDeviceTimestamps(std::uint8_t /*on*/) {
  return Code::kSuccess;
}

UNSTARVE_CUPTI cuptiActivityRegisterCallbacks(cupti::RequestBuffer request,
                                              cupti::CompleteBuffer complete) {
  return guarded([&] { return tracer().set_callbacks(request, complete); });
}

UNSTARVE_CUPTI cuptiActivityRegisterTimestampCallback(cupti::ReadTimestamp read) {
  return guarded([&] {
    if (read == nullptr) return Code::kInvalidParameter;
    tracer().set_clock(read);
    return Code::kSuccess;
  });
}

UNSTARVE_CUPTI cuptiGetTimestamp(std::uint64_t* timestamp) {
  return guarded([&] {
    if (timestamp == nullptr) return Code::kInvalidParameter;
    *timestamp = tracer().now();
    return Code::kSuccess;
  });
}

UNSTARVE_CUPTI cuptiActivityFlushAll(std::uint32_t /*flag*/) {
  return guarded([] { return tracer().flush(); });
}

UNSTARVE_CUPTI cuptiActivityFlush(void* /*context*/, std::uint32_t /*stream*/,
                                  std::uint32_t /*flag*/) {
  return guarded([] { return tracer().flush(); });
}

UNSTARVE_CUPTI cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid_bytes,
                                          std::uint8_t** record) {
  return next_record(buffer, valid_bytes, record);
}

UNSTARVE_CUPTI cuptiActivityGetNumDroppedRecords(void* /*context*/, std::uint32_t /*stream*/,
                                                 std::size_t* dropped) {
  return guarded([&] {
    if (dropped == nullptr) return Code::kInvalidParameter;
    *dropped = tracer().take_dropped();
    return Code::kSuccess;
  });
}

// The attributes say how much memory CUPTI may take for its own buffers on a device. None is.
UNSTARVE_CUPTI cuptiActivitySetAttribute(std::uint32_t /*attribute*/, const std::size_t* size,
                                         const void* value) {
  return size == nullptr || value == nullptr ? Code::kInvalidParameter : Code::kSuccess;
}

UNSTARVE_CUPTI cuptiActivityPushExternalCorrelationId(std::uint32_t kind, std::uint64_t id) {
  return guarded([&] { return Tracer::push_external(kind, id); });
}

UNSTARVE_CUPTI cuptiActivityPopExternalCorrelationId(std::uint32_t kind, std::uint64_t* id) {
  return guarded([&] { return Tracer::pop_external(kind, id); });
}

UNSTARVE_CUPTI cuptiSetThreadIdType(std::uint32_t type) {
  return guarded([&] {
    if (type > cupti::kThreadIdSystem) return Code::kInvalidParameter;
    tracer().set_thread_id_type(type);
    return Code::kSuccess;
  });
}

UNSTARVE_CUPTI cuptiGetThreadIdType(std::uint32_t* type) {
  return guarded([&] {
    if (type == nullptr) return Code::kInvalidParameter;
    *type = tracer().thread_id_type();
    return Code::kSuccess;
  });
}

UNSTARVE_CUPTI cuptiFinalize() {
  return guarded([] {
    flush_records();
    tracer().disable_all();
    subscriber().clear();
    update_sink();
    return Code::kSuccess;
  });
}
