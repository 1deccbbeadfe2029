#pragma once

#include <exception>
#include <new>

#include "emulated/cudnn/cudnn_abi.h"
#include "emulated/library/library_call.h"

namespace unstarve::emulated::cudnn {

/// What a cudnnHandle_t points to.
struct Handle {
  Target target;
};

inline Status status_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kSuccess: return Status::kSuccess;
    case Outcome::kInvalidValue:
    case Outcome::kInvalidHandle: return Status::kBadParam;
    case Outcome::kOutOfMemory: return Status::kAllocFailed;
    case Outcome::kNotInitialized:
    case Outcome::kNoDevice: return Status::kNotInitialized;
    case Outcome::kNotSupported: return Status::kNotSupported;
    default: return Status::kExecutionFailed;
  }
}

/// Calls what may throw for want of memory; nothing leaves a function of the API but a status.
template <class Body>
Status guarded(Body body) {
  try {
    return body();
  } catch (const std::exception&) {
    return Status::kAllocFailed;
  }
}

/// An object that a program holds by a pointer.
template <class Object>
Status create(Object** out) {
  if (out == nullptr) return Status::kBadParam;
  *out = new (std::nothrow) Object;
  return *out == nullptr ? Status::kAllocFailed : Status::kSuccess;
}

template <class Object>
Status destroy(Object* object) {
  delete object;
  return Status::kSuccess;
}

/// A layer whose time is that of moving its tensors.
inline Status move_bytes(Handle* handle, const char* name, double bytes, NumberType type) {
  if (handle == nullptr) return Status::kBadParam;
  OtherWork work;
  work.bytes = bytes;
  work.flops = bytes / bytes_of(type);
  work.type = type;
  return status_of(submit(handle->target, name, work));
}

}  // namespace unstarve::emulated::cudnn
