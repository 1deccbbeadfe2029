// CUPTI's callback functions, and those that say what a handle is.
#include "emulated/cupti/observer.h"
#include "emulated/cupti/subscriber.h"
#include "emulated/process/gpu.h"

#define UNSTARVE_CUPTI extern "C" __attribute__((visibility("default"))) cupti::Code

using namespace unstarve;
using namespace unstarve::emulated;
using cupti::Code;
using cupti::Domain;

namespace {

#if UNSTARVE_CUDA_MAJOR >= 13
constexpr std::uint32_t kVersion = 130200;
#else
constexpr std::uint32_t kVersion = 26;  // CUDA 12.8
#endif

Code enable(const void* handle, std::uint32_t domain, std::uint32_t call, bool on) noexcept {
  const Code result = subscriber().enable(handle, domain, call, on);
  if (result == Code::kNotSupported) report_missing("libcupti", "cuptiEnableCallback");
  update_sink();
  return result;
}

/// The GPU that a context is of: contexts are the current GPU's where none is given.
Code number_of_gpu(std::uint32_t* number, std::uint32_t first) noexcept {
  if (number == nullptr) return Code::kInvalidParameter;
  if (usable() != Outcome::kSuccess) return Code::kNotInitialized;
  *number = static_cast<std::uint32_t>(current_gpu()->index()) + first;
  return Code::kSuccess;
}

}  // namespace

UNSTARVE_CUPTI cuptiGetVersion(std::uint32_t* version) {
  if (version == nullptr) return Code::kInvalidParameter;
  *version = kVersion;
  return Code::kSuccess;
}

UNSTARVE_CUPTI cuptiSubscribe(void** handle, cupti::Callback callback, void* user_data) {
  if (usable() != Outcome::kSuccess) return Code::kNotInitialized;
  return subscriber().subscribe(callback, user_data, handle);
}

UNSTARVE_CUPTI cuptiUnsubscribe(const void* handle) {
  const Code result = subscriber().unsubscribe(handle);
  update_sink();
  return result;
}

UNSTARVE_CUPTI cuptiEnableCallback(std::uint32_t on, const void* handle, std::uint32_t domain,
                                   std::uint32_t call) {
  return call == 0 ? Code::kInvalidParameter : enable(handle, domain, call, on != 0);
}

UNSTARVE_CUPTI cuptiEnableDomain(std::uint32_t on, const void* handle, std::uint32_t domain) {
  return enable(handle, domain, 0, on != 0);
}

UNSTARVE_CUPTI cuptiEnableAllDomains(std::uint32_t on, const void* handle) {
  for (const Domain domain :
       {Domain::kDriver, Domain::kRuntime, Domain::kResource, Domain::kState}) {
    const Code result = enable(handle, static_cast<std::uint32_t>(domain), 0, on != 0);
    if (result != Code::kSuccess) return result;
  }
  return Code::kSuccess;
}

UNSTARVE_CUPTI cuptiGetCallbackState(std::uint32_t* on, const void* handle, std::uint32_t domain,
                                     std::uint32_t call) {
  if (on == nullptr) return Code::kInvalidParameter;
  bool enabled = false;
  const Code result = subscriber().is_enabled(handle, domain, call, &enabled);
  *on = enabled ? 1 : 0;
  return result;
}

UNSTARVE_CUPTI cuptiSupportedDomains(std::size_t* count, const cupti::Domain** domains) {
  static constexpr Domain kDomains[] = {Domain::kDriver, Domain::kRuntime, Domain::kResource,
                                        Domain::kState};
  if (count == nullptr || domains == nullptr) return Code::kInvalidParameter;
  *count = std::size(kDomains);
  *domains = kDomains;
  return Code::kSuccess;
}

UNSTARVE_CUPTI cuptiGetCallbackName(std::uint32_t domain, std::uint32_t call, const char** name) {
  if (name == nullptr) return Code::kInvalidParameter;
  const bool driver = static_cast<Domain>(domain) == Domain::kDriver;
  if (!driver && static_cast<Domain>(domain) != Domain::kRuntime) return Code::kInvalidParameter;
  *name = function_name(driver, call);
  return **name == '\0' ? Code::kInvalidParameter : Code::kSuccess;
}

UNSTARVE_CUPTI cuptiGetDeviceId(void* /*context*/, std::uint32_t* device) {
  return number_of_gpu(device, 0);
}

UNSTARVE_CUPTI cuptiGetContextId(void* /*context*/, std::uint32_t* context_id) {
  return number_of_gpu(context_id, 1);
}

UNSTARVE_CUPTI cuptiGetStreamIdEx(void* /*context*/, const void* stream,
                                  std::uint8_t /*per_thread*/, std::uint32_t* id) {
  if (id == nullptr) return Code::kInvalidParameter;
  if (usable() != Outcome::kSuccess) return Code::kNotInitialized;
  const Stream* const found = current_gpu()->find_stream(stream);
  if (found == nullptr) return Code::kInvalidStream;
  *id = static_cast<std::uint32_t>(id_of(found));
  return Code::kSuccess;
}

UNSTARVE_CUPTI cuptiGetStreamId(void* context, const void* stream, std::uint32_t* id) {
  return cuptiGetStreamIdEx(context, stream, 0, id);
}

UNSTARVE_CUPTI cuptiGetLastError() { return Code::kSuccess; }

UNSTARVE_CUPTI cuptiGetResultString(cupti::Code result, const char** text) {
  if (text == nullptr) return Code::kInvalidParameter;
  *text = [result] {
    switch (result) {
      case Code::kSuccess: return "CUPTI_SUCCESS";
      case Code::kInvalidParameter: return "CUPTI_ERROR_INVALID_PARAMETER";
      case Code::kInvalidDevice: return "CUPTI_ERROR_INVALID_DEVICE";
      case Code::kInvalidContext: return "CUPTI_ERROR_INVALID_CONTEXT";
      case Code::kInvalidOperation: return "CUPTI_ERROR_INVALID_OPERATION";
      case Code::kOutOfMemory: return "CUPTI_ERROR_OUT_OF_MEMORY";
      case Code::kParameterSizeNotSufficient: return "CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT";
      case Code::kApiNotImplemented: return "CUPTI_ERROR_API_NOT_IMPLEMENTED";
      case Code::kMaxLimitReached: return "CUPTI_ERROR_MAX_LIMIT_REACHED";
      case Code::kNotReady: return "CUPTI_ERROR_NOT_READY";
      case Code::kNotCompatible: return "CUPTI_ERROR_NOT_COMPATIBLE";
      case Code::kNotInitialized: return "CUPTI_ERROR_NOT_INITIALIZED";
      case Code::kQueueEmpty: return "CUPTI_ERROR_QUEUE_EMPTY";
      case Code::kInvalidHandle: return "CUPTI_ERROR_INVALID_HANDLE";
      case Code::kInvalidStream: return "CUPTI_ERROR_INVALID_STREAM";
      case Code::kInvalidKind: return "CUPTI_ERROR_INVALID_KIND";
      case Code::kNotSupported: return "CUPTI_ERROR_NOT_SUPPORTED";
      case Code::kMultipleSubscribersNotSupported:
        return "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
      case Code::kUnknown: break;
    }
    return "CUPTI_ERROR_UNKNOWN";
  }();
  return Code::kSuccess;
}

UNSTARVE_CUPTI cuptiGetErrorMessage(cupti::Code result, const char** text) {
  return cuptiGetResultString(result, text);
}
