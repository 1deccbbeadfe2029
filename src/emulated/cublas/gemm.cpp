#include <algorithm>

#include "emulated/cublas/handle.h"

// The products of matrices: gemm in all its forms. An emulated one is its shape and its types.

using namespace unstarve::emulated;
using namespace unstarve::emulated::cublas;

namespace {

struct Gemm {
  Operation op_a = Operation::kNone;
  Operation op_b = Operation::kNone;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t lda = 0;
  std::int64_t ldb = 0;
  std::int64_t ldc = 0;
  std::int64_t batch = 1;
};

struct Types {
  NumberType input = NumberType::kF32;
  NumberType output = NumberType::kF32;
  bool rounds_floats = false;
};

bool valid(const Gemm& gemm) {
  const std::int64_t rows_a = gemm.op_a == Operation::kNone ? gemm.m : gemm.k;
  const std::int64_t rows_b = gemm.op_b == Operation::kNone ? gemm.k : gemm.n;
  return gemm.m >= 0 && gemm.n >= 0 && gemm.k >= 0 && gemm.batch >= 0 &&
         gemm.lda >= std::max<std::int64_t>(1, rows_a) &&
         gemm.ldb >= std::max<std::int64_t>(1, rows_b) &&
         gemm.ldc >= std::max<std::int64_t>(1, gemm.m);
}

Status multiply(Handle* handle, const char* name, const Gemm& gemm, const Types& types) {
  if (handle == nullptr) return Status::kNotInitialized;
  if (!valid(gemm)) return Status::kInvalidValue;
  if (gemm.m == 0 || gemm.n == 0 || gemm.batch == 0) return Status::kSuccess;
  MatmulWork work;
  work.m = gemm.m;
  work.n = gemm.n;
  work.k = gemm.k;
  work.batch = gemm.batch;
  work.input = types.input;
  work.output = types.output;
  work.tf32 = types.rounds_floats || handle->allows_tf32();
  work.transposed_a = gemm.op_a != Operation::kNone;
  work.transposed_b = gemm.op_b != Operation::kNone;
  return status_of(submit(handle->target, name, work));
}

Types types_of(DataType input, DataType output, ComputeType compute = ComputeType::k32F) {
  return {number_type(input), number_type(output), rounds_floats(compute)};
}

}  // namespace

// The forms of one letter of BLAS, for sizes of one width: `int`, or `std::int64_t` and `_64`.
#define UNSTARVE_GEMM(letter, Size, suffix)                                                        \
  Status cublas##letter##gemm_v2##suffix(Handle* handle, Operation a, Operation b, Size m, Size n, \
                                         Size k, const void*, const void*, Size lda, const void*,  \
                                         Size ldb, const void*, void*, Size ldc) {                 \
    return multiply(handle, "emulated cublas" #letter "gemm", {a, b, m, n, k, lda, ldb, ldc},      \
                    {kTypeOf##letter, kTypeOf##letter});                                           \
  }                                                                                                \
  Status cublas##letter##gemmBatched##suffix(Handle* handle, Operation a, Operation b, Size m,     \
                                             Size n, Size k, const void*, const void* const*,      \
                                             Size lda, const void* const*, Size ldb, const void*,  \
                                             void* const*, Size ldc, Size batch) {                 \
    return multiply(handle, "emulated cublas" #letter "gemmBatched",                               \
                    {a, b, m, n, k, lda, ldb, ldc, batch}, {kTypeOf##letter, kTypeOf##letter});    \
  }                                                                                                \
  Status cublas##letter##gemmStridedBatched##suffix(                                               \
      Handle* handle, Operation a, Operation b, Size m, Size n, Size k, const void*, const void*,  \
      Size lda, long long, const void*, Size ldb, long long, const void*, void*, Size ldc,         \
      long long, Size batch) {                                                                     \
    return multiply(handle, "emulated cublas" #letter "gemmStridedBatched",                        \
                    {a, b, m, n, k, lda, ldb, ldc, batch}, {kTypeOf##letter, kTypeOf##letter});    \
  }

// Those whose types are arguments.
#define UNSTARVE_GEMM_EX(Size, suffix)                                                             \
  Status cublasSgemmEx##suffix(Handle* handle, Operation a, Operation b, Size m, Size n, Size k,   \
                               const void*, const void*, DataType input, Size lda, const void*,    \
                               DataType, Size ldb, const void*, void*, DataType output,            \
                               Size ldc) {                                                         \
    return multiply(handle, "emulated cublasSgemmEx", {a, b, m, n, k, lda, ldb, ldc},              \
                    types_of(input, output));                                                      \
  }                                                                                                \
  Status cublasGemmEx##suffix(Handle* handle, Operation a, Operation b, Size m, Size n, Size k,    \
                              const void*, const void*, DataType input, Size lda, const void*,     \
                              DataType, Size ldb, const void*, void*, DataType output, Size ldc,   \
                              ComputeType compute, GemmAlgorithm) {                                \
    return multiply(handle, "emulated cublasGemmEx", {a, b, m, n, k, lda, ldb, ldc},               \
                    types_of(input, output, compute));                                             \
  }                                                                                                \
  Status cublasGemmBatchedEx##suffix(Handle* handle, Operation a, Operation b, Size m, Size n,     \
                                     Size k, const void*, const void* const*, DataType input,      \
                                     Size lda, const void* const*, DataType, Size ldb,             \
                                     const void*, void* const*, DataType output, Size ldc,         \
                                     Size batch, ComputeType compute, GemmAlgorithm) {             \
    return multiply(handle, "emulated cublasGemmBatchedEx", {a, b, m, n, k, lda, ldb, ldc, batch}, \
                    types_of(input, output, compute));                                             \
  }                                                                                                \
  Status cublasGemmStridedBatchedEx##suffix(                                                       \
      Handle* handle, Operation a, Operation b, Size m, Size n, Size k, const void*, const void*,  \
      DataType input, Size lda, long long, const void*, DataType, Size ldb, long long,             \
      const void*, void*, DataType output, Size ldc, long long, Size batch, ComputeType compute,   \
      GemmAlgorithm) {                                                                             \
    return multiply(handle, "emulated cublasGemmStridedBatchedEx",                                 \
                    {a, b, m, n, k, lda, ldb, ldc, batch}, types_of(input, output, compute));      \
  }

extern "C" {
UNSTARVE_GEMM(S, int, )
UNSTARVE_GEMM(D, int, )
UNSTARVE_GEMM(C, int, )
UNSTARVE_GEMM(Z, int, )
UNSTARVE_GEMM(S, std::int64_t, _64)
UNSTARVE_GEMM(D, std::int64_t, _64)
UNSTARVE_GEMM(C, std::int64_t, _64)
UNSTARVE_GEMM(Z, std::int64_t, _64)
UNSTARVE_GEMM_EX(int, )
UNSTARVE_GEMM_EX(std::int64_t, _64)
}  // extern "C"
