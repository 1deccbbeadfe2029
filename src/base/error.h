#pragma once

#include <string>
#include <utility>

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
/// Copies throw nothing, since tl::expected ends the process where one does: where no memory is
/// left for the message, the copy is out_of_memory().
struct Error {
  Error() = default;
  Error(ErrorCode the_code, std::string the_message, int the_errno) noexcept
      : code(the_code), message(std::move(the_message)), os_errno(the_errno) {}
  Error(const Error& other) noexcept;
  Error(Error&&) noexcept = default;
  Error& operator=(const Error& other) noexcept { return *this = Error(other); }
  Error& operator=(Error&&) noexcept = default;
  ~Error() = default;

  ErrorCode code = ErrorCode::kIo;
  std::string message;
  int os_errno = 0;  // errno of the failed call, 0 where there was none
  int signal = 0;    // of kCancelled: the one that told us to end; 0: none did
};

/// Where no memory is left: its text lies within the string itself, so that making, copying and
/// moving it allocates nothing.
Error out_of_memory() noexcept;

/// What is being caught, as an Error; only within a `catch`. Every thread of ours ends in
/// `catch (...)` and this: in somebody else's process an exception that leaves a thread is the end
/// of his work.
Error caught_error() noexcept;

}  // namespace unstarve
