#pragma once

namespace unstarve::detail {
[[noreturn]] void check_failed(const char* condition, const char* why, const char* file, int line);
}  // namespace unstarve::detail

/// Aborts when a contract between two pieces of our own code is broken. Nothing that a user, a file
/// or a device can cause may reach it: such failures are Results.
#define UNSTARVE_CHECK(condition, why)                                       \
  do {                                                                       \
    if (!(condition)) [[unlikely]] {                                         \
      ::unstarve::detail::check_failed(#condition, why, __FILE__, __LINE__); \
    }                                                                        \
  } while (false)
