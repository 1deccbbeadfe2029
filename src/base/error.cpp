#include "base/error.h"

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

}  // namespace unstarve
