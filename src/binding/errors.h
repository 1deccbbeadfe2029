#pragma once

#include "base/result.h"

namespace unstarve::binding {

/// Raises the exception of unstarve.errors that stands for the error's code.
[[noreturn]] void raise(const Error& error);

/// The value, or the exception.
template <class T>
T value_or_raise(Result<T> result) {
  if (!result) raise(result.error());
  return std::move(*result);
}

}  // namespace unstarve::binding
