#pragma once

#include <cstddef>
#include <cstdint>

#include "emulated/cublas/cublas_abi.h"
#include "emulated/library/number_types.h"

/// The part of cuBLASLt's binary interface that is used here, declared anew. Values and layouts as
/// of the headers of cuBLAS 12.8 and 13.4; enumerations that grow are numbers, of which those known
/// here have names.
namespace unstarve::emulated::cublaslt {

using cublas::ComputeType;
using cublas::Operation;
using cublas::PointerMode;
using cublas::Status;

/// cublasLtMatmulDescAttributes_t.
enum class MatmulAttribute : std::int32_t {
  kComputeType = 0,
  kScaleType = 1,
  kPointerMode = 2,
  kTransposeA = 3,
  kTransposeB = 4,
  kTransposeC = 5,
  kFillMode = 6,
  kEpilogue = 7,
  kLast = 63,  // none is numbered higher
};

/// cublasLtMatrixLayoutAttribute_t.
enum class LayoutAttribute : std::int32_t {
  kType = 0,
  kOrder = 1,
  kRows = 2,
  kColumns = 3,
  kLeadingDimension = 4,
  kBatchCount = 5,
  kBatchStride = 6,
  kLast = 63,
};

/// cublasLtMatmulPreferenceAttributes_t.
enum class PreferenceAttribute : std::int32_t { kMaxWorkspaceBytes = 1, kLast = 63 };

/// cublasLtMatmulAlgo_t: opaque to programs; the configuration's values lie in it.
struct alignas(8) Algorithm {
  static constexpr int kValues = 16;
  std::uint32_t values[kValues] = {};
};
static_assert(sizeof(Algorithm) == 64);

/// cublasLtMatmulHeuristicResult_t.
struct HeuristicResult {
  Algorithm algorithm;
  std::size_t workspace_bytes = 0;
  Status state = Status::kSuccess;
  float waves = 1;
  std::int32_t reserved[4] = {};
};
static_assert(sizeof(HeuristicResult) == 96);

/// What a cublasLtMatrixLayout_t points to; programs may reserve the room themselves.
struct Layout {
  DataType type = DataType::kR32F;
  std::int32_t order = 0;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::int64_t leading_dimension = 0;
  std::int64_t batch_stride = 0;
  std::int32_t batch = 1;
};
inline constexpr std::size_t kLayoutRoom = 64;  // cublasLtMatrixLayoutOpaque_t, in CUDA 12
static_assert(sizeof(Layout) <= kLayoutRoom);

/// What a cublasLtMatmulDesc_t points to.
struct MatmulDescription {
  ComputeType compute = ComputeType::k32F;
  DataType scale = DataType::kR32F;
  PointerMode pointers = PointerMode::kHost;
  Operation a = Operation::kNone;
  Operation b = Operation::kNone;
  Operation c = Operation::kNone;
  std::int32_t fill = 2;
  std::int32_t epilogue = 1;
};
inline constexpr std::size_t kMatmulRoom = 184;  // cublasLtMatmulDescOpaque_t, in CUDA 12.0
static_assert(sizeof(MatmulDescription) <= kMatmulRoom);

/// What a cublasLtMatmulPreference_t points to.
struct Preference {
  std::uint64_t max_workspace_bytes = 0;
};

/// What a cublasLtMatrixTransformDesc_t points to.
struct TransformDescription {
  DataType scale = DataType::kR32F;
};

}  // namespace unstarve::emulated::cublaslt
