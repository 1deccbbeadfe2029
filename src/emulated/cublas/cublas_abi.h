#pragma once

#include <cstddef>
#include <cstdint>

/// The part of cuBLAS's binary interface that is used here, declared anew; the same in CUDA 12 and
/// 13. Values as of the headers of cuBLAS 12.8 and 13.4. Pointers to numbers are void: what they
/// point to is not looked at.
namespace unstarve::emulated::cublas {

/// cublasStatus_t.
enum class Status : std::int32_t {
  kSuccess = 0,
  kNotInitialized = 1,
  kAllocFailed = 3,
  kInvalidValue = 7,
  kArchMismatch = 8,
  kMappingError = 11,
  kExecutionFailed = 13,
  kInternalError = 14,
  kNotSupported = 15,
  kLicenseError = 16,
};

/// cublasOperation_t.
enum class Operation : std::int32_t { kNone = 0, kTranspose = 1, kConjugateTranspose = 2 };
/// cublasFillMode_t.
enum class FillMode : std::int32_t { kLower = 0, kUpper = 1, kFull = 2 };
/// cublasDiagType_t.
enum class Diagonal : std::int32_t { kNonUnit = 0, kUnit = 1 };
/// cublasSideMode_t.
enum class Side : std::int32_t { kLeft = 0, kRight = 1 };
/// cublasPointerMode_t: where alpha, beta and results lie.
enum class PointerMode : std::int32_t { kHost = 0, kDevice = 1 };
/// cublasAtomicsMode_t.
enum class AtomicsMode : std::int32_t { kNotAllowed = 0, kAllowed = 1 };
/// cublasGemmAlgo_t: taken and not looked at.
using GemmAlgorithm = std::int32_t;

/// cublasMath_t.
enum class Math : std::int32_t {
  kDefault = 0,
  kTensorOp = 1,
  kPedantic = 2,
  kTf32TensorOp = 3,
};
/// Bits beside the mode: CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION and what may follow.
inline constexpr std::int32_t kMathModeBits = 15;

/// cublasComputeType_t.
enum class ComputeType : std::int32_t {
  k16F = 64,
  k16FPedantic = 65,
  k32F = 68,
  k32FPedantic = 69,
  k64F = 70,
  k64FPedantic = 71,
  k32I = 72,
  k32IPedantic = 73,
  k32FFast16F = 74,
  k32FFast16Bf = 75,
  k32FFastTf32 = 77,
};

/// Whether floats may be rounded for the tensor cores.
inline bool rounds_floats(ComputeType type) {
  return type == ComputeType::k32FFast16F || type == ComputeType::k32FFast16Bf ||
         type == ComputeType::k32FFastTf32;
}

/// CUBLAS_VERSION.
#if UNSTARVE_CUDA_MAJOR >= 13
inline constexpr int kVersion = 130401;
inline constexpr int kVersionParts[] = {13, 4, 1};
inline constexpr int kRuntimeVersion = 13020;
#else
inline constexpr int kVersion = 120804;
inline constexpr int kVersionParts[] = {12, 8, 4};
inline constexpr int kRuntimeVersion = 12080;
#endif

}  // namespace unstarve::emulated::cublas
