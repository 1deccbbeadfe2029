#include "emulated/cublas/handle.h"

#include <new>

// cublasCreate and what is set and read on a handle.

using namespace unstarve::emulated;
using namespace unstarve::emulated::cublas;

extern "C" {

Status cublasCreate_v2(Handle** handle) {
  if (handle == nullptr) return Status::kInvalidValue;
  Target target;
  if (current_target(&target) != Outcome::kSuccess) return Status::kNotInitialized;
  *handle = new (std::nothrow) Handle;
  if (*handle == nullptr) return Status::kAllocFailed;
  (*handle)->target = target;
  return Status::kSuccess;
}

Status cublasDestroy_v2(Handle* handle) {
  if (handle == nullptr) return Status::kNotInitialized;
  delete handle;
  return Status::kSuccess;
}

Status cublasGetVersion_v2(Handle*, int* version) {
  if (version == nullptr) return Status::kInvalidValue;
  *version = kVersion;
  return Status::kSuccess;
}

Status cublasGetProperty(LibraryProperty property, int* value) {
  const auto index = static_cast<unsigned>(property);
  if (index > 2 || value == nullptr) return Status::kInvalidValue;
  *value = kVersionParts[index];
  return Status::kSuccess;
}

std::size_t cublasGetCudartVersion() { return kRuntimeVersion; }

const char* cublasGetStatusName(Status status) { return name_of(status); }

const char* cublasGetStatusString(Status status) { return text_of(status); }

Status cublasSetStream_v2(Handle* handle, const void* stream) {
  if (handle == nullptr) return Status::kNotInitialized;
  handle->target.stream = stream;
  return Status::kSuccess;
}

Status cublasGetStream_v2(Handle* handle, const void** stream) {
  if (handle == nullptr) return Status::kNotInitialized;
  if (stream == nullptr) return Status::kInvalidValue;
  *stream = handle->target.stream;
  return Status::kSuccess;
}

Status cublasSetWorkspace_v2(Handle* handle, void*, std::size_t) {
  return handle == nullptr ? Status::kNotInitialized : Status::kSuccess;
}

Status cublasSetMathMode(Handle* handle, std::int32_t mode) {
  if (handle == nullptr) return Status::kNotInitialized;
  handle->math = mode;
  return Status::kSuccess;
}

Status cublasGetMathMode(Handle* handle, std::int32_t* mode) {
  if (handle == nullptr) return Status::kNotInitialized;
  if (mode == nullptr) return Status::kInvalidValue;
  *mode = handle->math;
  return Status::kSuccess;
}

Status cublasSetPointerMode_v2(Handle* handle, PointerMode mode) {
  if (handle == nullptr) return Status::kNotInitialized;
  handle->pointers = mode;
  return Status::kSuccess;
}

Status cublasGetPointerMode_v2(Handle* handle, PointerMode* mode) {
  if (handle == nullptr) return Status::kNotInitialized;
  if (mode == nullptr) return Status::kInvalidValue;
  *mode = handle->pointers;
  return Status::kSuccess;
}

Status cublasSetAtomicsMode(Handle* handle, AtomicsMode mode) {
  if (handle == nullptr) return Status::kNotInitialized;
  handle->atomics = mode;
  return Status::kSuccess;
}

Status cublasGetAtomicsMode(Handle* handle, AtomicsMode* mode) {
  if (handle == nullptr) return Status::kNotInitialized;
  if (mode == nullptr) return Status::kInvalidValue;
  *mode = handle->atomics;
  return Status::kSuccess;
}

Status cublasSetSmCountTarget(Handle* handle, int count) {
  if (handle == nullptr) return Status::kNotInitialized;
  handle->sm_count_target = count;
  return Status::kSuccess;
}

Status cublasGetSmCountTarget(Handle* handle, int* count) {
  if (handle == nullptr) return Status::kNotInitialized;
  if (count == nullptr) return Status::kInvalidValue;
  *count = handle->sm_count_target;
  return Status::kSuccess;
}

Status cublasLoggerConfigure(int, int, int, const char*) { return Status::kSuccess; }

}  // extern "C"
