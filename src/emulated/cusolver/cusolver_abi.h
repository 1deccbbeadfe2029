#pragma once

#include <cstddef>
#include <cstdint>

#include "emulated/cublas/cublas_abi.h"
#include "emulated/library/number_types.h"

/// The part of cuSOLVER's binary interface that is used here, declared anew; the same in CUDA 12
/// and
/// 13. Pointers to numbers are void: what they point to is not looked at.
namespace unstarve::emulated::cusolver {

using cublas::FillMode;
using cublas::Operation;
using cublas::Side;

/// cusolverStatus_t.
enum class Status : std::int32_t {
  kSuccess = 0,
  kNotInitialized = 1,
  kAllocFailed = 2,
  kInvalidValue = 3,
  kExecutionFailed = 6,
  kInternalError = 7,
  kNotSupported = 9,
};

/// Sizes of the interface whose types are arguments.
using Size = std::int64_t;

/// cusolverEigMode_t: whether vectors are wanted beside values.
enum class Vectors : std::int32_t { kNone = 0, kAlso = 1 };

}  // namespace unstarve::emulated::cusolver
