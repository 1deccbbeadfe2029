#pragma once

#include <cstddef>
#include <cstdint>

#include "emulated/library/number_types.h"

/// The part of cuFFT's binary interface that is used here, declared anew; the same in CUDA 12 and
/// 13. Values as of the headers of cuFFT 11.3 and 12.2.
namespace unstarve::emulated::cufft {

/// cufftResult.
enum class Result : std::int32_t {
  kSuccess = 0,
  kInvalidPlan = 1,
  kAllocFailed = 2,
  kInvalidType = 3,
  kInvalidValue = 4,
  kInternalError = 5,
  kExecFailed = 6,
  kSetupFailed = 7,
  kInvalidSize = 8,
  kNotSupported = 16,
};

/// cufftHandle.
using PlanHandle = std::int32_t;

/// cufftType: what goes in and what comes out.
enum class TransformType : std::int32_t {
  kComplexToComplex = 0x29,
  kRealToComplex = 0x2a,
  kComplexToReal = 0x2c,
  kDoubleComplexToDoubleComplex = 0x69,
  kDoubleToDoubleComplex = 0x6a,
  kDoubleComplexToDouble = 0x6c,
};

/// CUFFT_VERSION.
#if UNSTARVE_CUDA_MAJOR >= 13
inline constexpr int kVersionParts[] = {12, 2, 0};
#else
inline constexpr int kVersionParts[] = {11, 3, 3};
#endif
inline constexpr int kVersion = kVersionParts[0] * 1000 + kVersionParts[1] * 100 + kVersionParts[2];

}  // namespace unstarve::emulated::cufft
