#pragma once

#include <cstddef>
#include <cstdint>

#include "emulated/library/number_types.h"

#ifndef UNSTARVE_CUDNN_MAJOR
#define UNSTARVE_CUDNN_MAJOR (UNSTARVE_CUDA_MAJOR >= 13 ? 9 : 8)
#endif

/// The part of cuDNN's binary interface that is used here, declared anew. Values and layouts as of
/// the headers of cuDNN 8.9 and 9.26, which agree except for the statuses: UNSTARVE_CUDNN_MAJOR
/// says whose. Enumerations are open: programs pass values that have no name here.
namespace unstarve::emulated::cudnn {

/// cudnnStatus_t.
#if UNSTARVE_CUDNN_MAJOR >= 9
enum class Status : std::int32_t {
  kSuccess = 0,
  kNotInitialized = 1001,
  kBadParam = 2000,
  kNotSupported = 3000,
  kInternalError = 4000,
  kAllocFailed = 4003,
  kExecutionFailed = 5000,
};
inline constexpr int kVersion = 92600;
inline constexpr int kVersionParts[] = {9, 26, 0};
inline constexpr int kRuntimeVersion = 13020;
#else
enum class Status : std::int32_t {
  kSuccess = 0,
  kNotInitialized = 1,
  kAllocFailed = 2,
  kBadParam = 3,
  kInternalError = 4,
  kExecutionFailed = 8,
  kNotSupported = 9,
};
inline constexpr int kVersion = 8907;
inline constexpr int kVersionParts[] = {8, 9, 7};
inline constexpr int kRuntimeVersion = 12080;
#endif

/// cudnnDataType_t.
enum class Type : std::int32_t {
  kFloat = 0,
  kDouble = 1,
  kHalf = 2,
  kInt8 = 3,
  kInt32 = 4,
  kUint8 = 6,
  kBfloat16 = 9,
  kInt64 = 10,
  kBoolean = 11,
  kFp8E4M3 = 12,
  kFp8E5M2 = 13,
};

inline NumberType number_type(Type type) {
  switch (type) {
    case Type::kDouble: return NumberType::kF64;
    case Type::kHalf: return NumberType::kF16;
    case Type::kBfloat16: return NumberType::kBf16;
    case Type::kInt8:
    case Type::kUint8:
    case Type::kBoolean: return NumberType::kI8;
    case Type::kInt32: return NumberType::kI32;
    case Type::kInt64: return NumberType::kI64;
    case Type::kFp8E4M3:
    case Type::kFp8E5M2: return NumberType::kF8;
    default: return NumberType::kF32;
  }
}

/// cudnnMathType_t. Floats may be rounded for the tensor cores unless it is kFma.
enum class MathType : std::int32_t { kDefault = 0, kTensorOp = 1, kAllowConversion = 2, kFma = 3 };
/// cudnnTensorFormat_t.
enum class Format : std::int32_t { kNchw = 0, kNhwc = 1, kNchwVectC = 2 };
/// cudnnDeterminism_t.
enum class Determinism : std::int32_t { kNonDeterministic = 0, kDeterministic = 1 };
/// cudnnBatchNormOps_t: what is fused behind a normalisation.
enum class NormOps : std::int32_t { kNorm = 0, kActivation = 1, kAddActivation = 2 };
/// cudnnRNNMode_t.
enum class RnnMode : std::int32_t { kRelu = 0, kTanh = 1, kLstm = 2, kGru = 3 };
/// cudnnDirectionMode_t.
enum class Direction : std::int32_t { kOne = 0, kBoth = 1 };
/// cudnnRNNBiasMode_t.
enum class BiasMode : std::int32_t { kNone = 0, kInput = 1, kDouble = 2, kRecurrent = 3 };
/// cudnnRNNInputMode_t.
enum class InputMode : std::int32_t { kLinear = 0, kSkip = 1 };
/// cudnnForwardMode_t.
enum class ForwardMode : std::int32_t { kInference = 0, kTraining = 1 };
/// Taken and not looked at: cudnnConvolutionFwdAlgo_t and many more.
using Choice = std::int32_t;

/// cudnnConvolutionFwdAlgoPerf_t, and those of the two gradients.
struct AlgorithmPerformance {
  Choice algorithm = 0;
  Status status = Status::kSuccess;
  float time_ms = 0;
  std::size_t memory_bytes = 0;
  Determinism determinism = Determinism::kDeterministic;
  MathType math = MathType::kDefault;
  std::int32_t reserved[3] = {};
};
static_assert(sizeof(AlgorithmPerformance) == 48);

/// CUDNN_DIM_MAX.
inline constexpr int kMaxDimensions = 8;

}  // namespace unstarve::emulated::cudnn
