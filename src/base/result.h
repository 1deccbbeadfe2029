#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "base/error.h"

namespace unstarve {

/// A value or an Error.
///
///   Result<File> file = File::open(path);
///   if (!file) return forward_error(file);
///   file->read(...);
///
/// Derived from tl::expected only to be [[nodiscard]]: tl::expected 1.0.0 itself compiles
/// silently when a returned error is ignored (checked with g++ 12.2 and clang 14).
template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

using Status = Result<void>;

/// Builds the error side of any Result: `return fail(ErrorCode::kNotFound, "no file {}", path);`
template <class... Args>
tl::unexpected<Error> fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(Error{code, fmt::format(format, std::forward<Args>(args)...), 0});
}

/// As fail(), of what a signal that told us to end put an end to: kCancelled.
tl::unexpected<Error> fail_by_signal(int signal, std::string message);

/// As fail(), with the errno of a failed system call; its text is appended to the message and the
/// code is chosen from it (ENOENT -> kNotFound, EACCES/EPERM -> kNoPermission, ENOMEM -> ...;
/// otherwise kIo).
tl::unexpected<Error> fail_errno(int os_errno, std::string message);

/// The same failure in other words: as fail_errno() with the errno of `error`; where it has none,
/// its own words follow `message`.
tl::unexpected<Error> fail_again(const Error& error, std::string message);

/// Passes the error of one Result on as the error of another.
template <class T>
tl::unexpected<Error> forward_error(const Result<T>& result) {
  return tl::unexpected<Error>(result.error());
}
template <class T>
tl::unexpected<Error> forward_error(Result<T>&& result) {
  return tl::unexpected<Error>(std::move(result).error());
}

}  // namespace unstarve
