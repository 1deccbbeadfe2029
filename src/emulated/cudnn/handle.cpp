#include "emulated/cudnn/handle.h"

// cudnnCreate, versions and the names of statuses.

using namespace unstarve::emulated;
using namespace unstarve::emulated::cudnn;

extern "C" {

Status cudnnCreate(Handle** handle) {
  if (handle == nullptr) return Status::kBadParam;
  Target target;
  if (current_target(&target) != Outcome::kSuccess) return Status::kNotInitialized;
  if (const Status status = create(handle); status != Status::kSuccess) return status;
  (*handle)->target = target;
  return Status::kSuccess;
}

Status cudnnDestroy(Handle* handle) { return destroy(handle); }

Status cudnnSetStream(Handle* handle, const void* stream) {
  if (handle == nullptr) return Status::kBadParam;
  handle->target.stream = stream;
  return Status::kSuccess;
}

Status cudnnGetStream(Handle* handle, const void** stream) {
  if (handle == nullptr || stream == nullptr) return Status::kBadParam;
  *stream = handle->target.stream;
  return Status::kSuccess;
}

std::size_t cudnnGetVersion() { return kVersion; }

std::size_t cudnnGetMaxDeviceVersion() { return 1300; }

std::size_t cudnnGetCudartVersion() { return kRuntimeVersion; }

Status cudnnGetProperty(LibraryProperty property, int* value) {
  const auto index = static_cast<unsigned>(property);
  if (index > 2 || value == nullptr) return Status::kBadParam;
  *value = kVersionParts[index];
  return Status::kSuccess;
}

const char* cudnnGetErrorString(Status status) {
  switch (status) {
    case Status::kSuccess: return "CUDNN_STATUS_SUCCESS";
    case Status::kNotInitialized: return "CUDNN_STATUS_NOT_INITIALIZED";
    case Status::kBadParam: return "CUDNN_STATUS_BAD_PARAM";
    case Status::kNotSupported: return "CUDNN_STATUS_NOT_SUPPORTED";
    case Status::kAllocFailed: return "CUDNN_STATUS_ALLOC_FAILED";
    case Status::kExecutionFailed: return "CUDNN_STATUS_EXECUTION_FAILED";
    default: return "CUDNN_STATUS_INTERNAL_ERROR";
  }
}

void cudnnGetLastErrorString(char* message, std::size_t size) {
  if (message != nullptr && size > 0) *message = '\0';
}

/// The sub-libraries that cuDNN is made of: all are this one.
Status cudnnOpsVersionCheck() { return Status::kSuccess; }
Status cudnnCnnVersionCheck() { return Status::kSuccess; }
Status cudnnAdvVersionCheck() { return Status::kSuccess; }
Status cudnnGraphVersionCheck() { return Status::kSuccess; }

}  // extern "C"
