#pragma once

#include <exception>

#include "emulated/nccl/communicator.h"

namespace unstarve::emulated::nccl {

/// Runs the body of a function of the API: nothing thrown leaves it.
template <class Body>
Result guarded(Body body) noexcept {
  try {
    return body();
  } catch (const std::exception& error) {
    return fail(Result::kSystemError, error.what());
  } catch (...) {
    return Result::kInternalError;
  }
}

/// The same, of a function that belongs to a communicator.
template <class Body>
Result with_communicator(const void* handle, const char* function, Body body) noexcept {
  return guarded([&]() -> Result {
    const std::shared_ptr<Communicator> communicator = Communicator::find(handle);
    if (!communicator) {
      return fail(Result::kInvalidArgument, std::string(function) + ": no such communicator");
    }
    return body(communicator);
  });
}

}  // namespace unstarve::emulated::nccl
