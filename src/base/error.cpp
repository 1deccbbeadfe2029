#include "base/error.h"

#include <exception>
#include <new>

namespace unstarve {

const char* to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument: return "invalid_argument";
    case ErrorCode::kNotFound: return "not_found";
    case ErrorCode::kNoPermission: return "no_permission";
    case ErrorCode::kNotSupported: return "not_supported";
    case ErrorCode::kCorruptData: return "corrupt_data";
    case ErrorCode::kIo: return "io";
    case ErrorCode::kOutOfMemory: return "out_of_memory";
    case ErrorCode::kCancelled: return "cancelled";
    case ErrorCode::kTimeout: return "timeout";
    case ErrorCode::kJobFailed: return "job_failed";
  }
  return "unknown";
}

Error::Error(const Error& other) noexcept
    : code(other.code), os_errno(other.os_errno), signal(other.signal) {
  try {
    message = other.message;
  } catch (...) {
    *this = out_of_memory();
  }
}

Error out_of_memory() noexcept {
  return {ErrorCode::kOutOfMemory, "out of memory", 0};  // 15 characters fit
}

Error caught_error() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::exception& exception) {
    try {
      return {ErrorCode::kIo, exception.what(), 0};
    } catch (...) {
      return out_of_memory();
    }
  } catch (...) {
    return {ErrorCode::kIo, "unknown failure", 0};  // 15 characters
  }
}

}  // namespace unstarve
