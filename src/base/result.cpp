#include "base/result.h"

#include <cerrno>
#include <system_error>

namespace unstarve {

namespace {

ErrorCode code_of_errno(int os_errno) {
  switch (os_errno) {
    case ENOENT:
    case ENOTDIR:
    case ENODEV: return ErrorCode::kNotFound;
    case EACCES:
    case EPERM: return ErrorCode::kNoPermission;
    case ENOMEM: return ErrorCode::kOutOfMemory;
    case ENOSYS:
    case EOPNOTSUPP: return ErrorCode::kNotSupported;
    case EINVAL: return ErrorCode::kInvalidArgument;
    case ETIMEDOUT: return ErrorCode::kTimeout;
    case ECANCELED: return ErrorCode::kCancelled;
    default: return ErrorCode::kIo;
  }
}

}  // namespace

tl::unexpected<Error> fail_by_signal(int signal, std::string message) {
  Error error{ErrorCode::kCancelled, std::move(message), 0};
  error.signal = signal;
  return tl::unexpected<Error>(std::move(error));
}

tl::unexpected<Error> fail_errno(int os_errno, std::string message) {
  message += ": ";
  message += std::generic_category().message(os_errno);
  return tl::unexpected<Error>(Error{code_of_errno(os_errno), std::move(message), os_errno});
}

tl::unexpected<Error> fail_again(const Error& error, std::string message) {
  if (error.os_errno != 0) return fail_errno(error.os_errno, std::move(message));
  Error again = error;
  again.message = message + ": " + error.message;
  return tl::unexpected<Error>(std::move(again));
}

}  // namespace unstarve
