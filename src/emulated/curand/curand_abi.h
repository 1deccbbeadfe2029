#pragma once

#include <cstddef>
#include <cstdint>

#include "emulated/library/library_call.h"
#include "emulated/library/number_types.h"

/// The part of cuRAND's binary interface that is used here, declared anew; CUDA 12 and 13 both have
/// libcurand.so.10.
namespace unstarve::emulated::curand {

/// curandStatus_t.
enum class Status : std::int32_t {
  kSuccess = 0,
  kNotInitialized = 101,
  kAllocationFailed = 102,
  kTypeError = 103,
  kOutOfRange = 104,
  kLaunchFailure = 201,
};

/// What a curandGenerator_t points to.
struct Generator {
  Target target;
};

inline constexpr int kVersionParts[] = {10, 4, 2};

}  // namespace unstarve::emulated::curand
