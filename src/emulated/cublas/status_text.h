#pragma once

#include "emulated/cublas/cublas_abi.h"
#include "emulated/engine/outcome.h"

namespace unstarve::emulated::cublas {

inline Status status_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kSuccess: return Status::kSuccess;
    case Outcome::kInvalidValue:
    case Outcome::kInvalidHandle: return Status::kInvalidValue;
    case Outcome::kOutOfMemory: return Status::kAllocFailed;
    case Outcome::kNotInitialized:
    case Outcome::kNoDevice: return Status::kNotInitialized;
    case Outcome::kNotSupported: return Status::kNotSupported;
    default: return Status::kExecutionFailed;
  }
}

/// The name of a status as the API spells it.
inline const char* name_of(Status status) {
  switch (status) {
    case Status::kSuccess: return "CUBLAS_STATUS_SUCCESS";
    case Status::kNotInitialized: return "CUBLAS_STATUS_NOT_INITIALIZED";
    case Status::kAllocFailed: return "CUBLAS_STATUS_ALLOC_FAILED";
    case Status::kInvalidValue: return "CUBLAS_STATUS_INVALID_VALUE";
    case Status::kArchMismatch: return "CUBLAS_STATUS_ARCH_MISMATCH";
    case Status::kMappingError: return "CUBLAS_STATUS_MAPPING_ERROR";
    case Status::kExecutionFailed: return "CUBLAS_STATUS_EXECUTION_FAILED";
    case Status::kInternalError: return "CUBLAS_STATUS_INTERNAL_ERROR";
    case Status::kNotSupported: return "CUBLAS_STATUS_NOT_SUPPORTED";
    case Status::kLicenseError: return "CUBLAS_STATUS_LICENSE_ERROR";
  }
  return "CUBLAS_STATUS_UNKNOWN";
}

/// What a status means, in words of our own.
inline const char* text_of(Status status) {
  switch (status) {
    case Status::kSuccess: return "no error";
    case Status::kNotInitialized: return "the library or its handle was not created";
    case Status::kAllocFailed: return "the emulated GPU's memory is used up";
    case Status::kInvalidValue: return "an argument is out of its range";
    case Status::kNotSupported: return "not supported by the emulated GPU";
    default: return "the call failed on the emulated GPU";
  }
}

}  // namespace unstarve::emulated::cublas
