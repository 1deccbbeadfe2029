#pragma once

#include <string>

namespace unstarve {

/// What kind of failure an Error is. Callers branch on the code, people read the message.
enum class ErrorCode {
  kInvalidArgument,  // the caller (in the end: the user) asked for something that makes no sense
  kNotFound,         // a file, device, symbol or key is not there
  kNoPermission,     // it is there, but we may not touch it
  kNotSupported,     // this machine, driver or format version cannot do it
  kCorruptData,      // bytes from outside that break their format
  kIo,               // the operating system failed a read, write or map
  kOutOfMemory,
  kCancelled,  // somebody asked us to stop
  kTimeout,
  kJobFailed,  // a process we started ended badly
};

/// The code's stable spelling in JSON and logs, for example "corrupt_data".
const char* to_string(ErrorCode code);

/// An expected failure, as a value. `message` says what failed, on which object, and what to do.
struct Error {
  ErrorCode code = ErrorCode::kIo;
  std::string message;
  int os_errno = 0;  // errno of the failed call, 0 where there was none
};

}  // namespace unstarve
