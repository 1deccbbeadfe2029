#include <algorithm>
#include <new>

#include "emulated/cublas/status_text.h"
#include "emulated/cublaslt/attribute.h"
#include "emulated/library/library_call.h"

// Products of matrices, and the one algorithm that every problem has. A handle is never looked at:
// programs pass cuBLAS's here too.

using namespace unstarve::emulated;
using namespace unstarve::emulated::cublaslt;
using unstarve::emulated::cublas::status_of;

namespace {

/// The product that the descriptors describe; nothing when they do not fit together.
bool describe(const MatmulDescription* matmul, const Layout* a, const Layout* b, const Layout* d,
              MatmulWork* work) {
  if (matmul == nullptr || a == nullptr || b == nullptr || d == nullptr) return false;
  const auto size = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  work->transposed_a = matmul->a != Operation::kNone;
  work->transposed_b = matmul->b != Operation::kNone;
  work->m = size(work->transposed_a ? a->columns : a->rows);
  work->k = size(work->transposed_a ? a->rows : a->columns);
  work->n = size(work->transposed_b ? b->rows : b->columns);
  work->batch = std::max(1, d->batch);
  work->input = number_type(a->type);
  work->output = number_type(d->type);
  work->tf32 = cublas::rounds_floats(matmul->compute);
  return true;
}

/// Whether the emulated GPU has arithmetic for these numbers.
Status supported(const MatmulWork& work) {
  if (usable() != Outcome::kSuccess) return Status::kNotInitialized;
  const Profile& profile = current_gpu()->profile();
  const int capability = profile.compute_major * 10 + profile.compute_minor;
  if (work.input == NumberType::kF8 && capability < 89) return Status::kNotSupported;
  return Status::kSuccess;
}

}  // namespace

extern "C" {

Status cublasLtCreate(void** handle) {
  if (handle == nullptr) return Status::kInvalidValue;
  if (usable() != Outcome::kSuccess) return Status::kNotInitialized;
  *handle = new (std::nothrow) char('L');
  return *handle == nullptr ? Status::kAllocFailed : Status::kSuccess;
}

Status cublasLtDestroy(void* handle) {
  if (handle == nullptr) return Status::kNotInitialized;
  delete static_cast<char*>(handle);
  return Status::kSuccess;
}

std::size_t cublasLtGetVersion() { return cublas::kVersion; }

std::size_t cublasLtGetCudartVersion() { return cublas::kRuntimeVersion; }

Status cublasLtGetProperty(LibraryProperty property, int* value) {
  const auto index = static_cast<unsigned>(property);
  if (index > 2 || value == nullptr) return Status::kInvalidValue;
  *value = cublas::kVersionParts[index];
  return Status::kSuccess;
}

const char* cublasLtGetStatusName(Status status) { return cublas::name_of(status); }

const char* cublasLtGetStatusString(Status status) { return cublas::text_of(status); }

Status cublasLtMatmulAlgoGetIds(void*, ComputeType, DataType, DataType, DataType, DataType,
                                DataType, int room, int* ids, int* count) {
  if (room < 1 || ids == nullptr) return Status::kInvalidValue;
  ids[0] = 0;
  if (count != nullptr) *count = 1;
  return Status::kSuccess;
}

Status cublasLtMatmulAlgoInit(void*, ComputeType, DataType, DataType, DataType, DataType, DataType,
                              int id, Algorithm* algorithm) {
  if (algorithm == nullptr || id < 0) return Status::kInvalidValue;
  *algorithm = {};
  algorithm->values[0] = static_cast<std::uint32_t>(id);
  return Status::kSuccess;
}

Status cublasLtMatmulAlgoConfigSetAttribute(Algorithm* algorithm, std::int32_t attribute,
                                            const void* bytes, std::size_t size) {
  if (algorithm == nullptr || attribute < 0 || attribute >= Algorithm::kValues ||
      bytes == nullptr || size == 0 || size > sizeof(std::uint32_t)) {
    return Status::kInvalidValue;
  }
  std::uint32_t* value = &algorithm->values[attribute];
  *value = 0;
  std::memcpy(value, bytes, size);
  return Status::kSuccess;
}

Status cublasLtMatmulAlgoConfigGetAttribute(const Algorithm* algorithm, std::int32_t attribute,
                                            void* bytes, std::size_t size, std::size_t* written) {
  if (algorithm == nullptr || attribute < 0 || attribute >= Algorithm::kValues ||
      size > sizeof(std::uint32_t) || (size != 0 && bytes == nullptr)) {
    return Status::kInvalidValue;
  }
  if (size != 0) std::memcpy(bytes, &algorithm->values[attribute], size);
  if (written != nullptr) *written = size == 0 ? sizeof(std::uint32_t) : size;
  return Status::kSuccess;
}

Status cublasLtMatmulAlgoGetHeuristic(void*, const MatmulDescription* matmul, const Layout* a,
                                      const Layout* b, const Layout*, const Layout* d,
                                      const Preference*, int room, HeuristicResult* results,
                                      int* count) {
  MatmulWork work;
  if (count == nullptr || room < 1 || results == nullptr || !describe(matmul, a, b, d, &work)) {
    return Status::kInvalidValue;
  }
  *count = 0;
  if (const Status status = supported(work); status != Status::kSuccess) return status;
  results[0] = {};
  *count = 1;
  return Status::kSuccess;
}

Status cublasLtMatmulAlgoCheck(void*, const MatmulDescription* matmul, const Layout* a,
                               const Layout* b, const Layout*, const Layout* d,
                               const Algorithm* algorithm, HeuristicResult* result) {
  MatmulWork work;
  if (algorithm == nullptr || result == nullptr || !describe(matmul, a, b, d, &work)) {
    return Status::kInvalidValue;
  }
  if (const Status status = supported(work); status != Status::kSuccess) return status;
  const Algorithm kept = *algorithm;  // it may lie within the result
  *result = {};
  result->algorithm = kept;
  return Status::kSuccess;
}

Status cublasLtMatmul(void*, const MatmulDescription* matmul, const void*, const void*,
                      const Layout* a, const void*, const Layout* b, const void*, const void*,
                      const Layout*, void*, const Layout* d, const Algorithm*, void*, std::size_t,
                      const void* stream) {
  MatmulWork work;
  if (!describe(matmul, a, b, d, &work)) return Status::kInvalidValue;
  if (const Status status = supported(work); status != Status::kSuccess) return status;
  if (work.m == 0 || work.n == 0) return Status::kSuccess;
  Target target;
  if (current_target(&target) != Outcome::kSuccess) return Status::kNotInitialized;
  target.stream = stream;
  return status_of(submit(target, "emulated cublasLtMatmul", work));
}

Status cublasLtMatrixTransform(void*, const TransformDescription* transform, const void*,
                               const void*, const Layout* a, const void*, const void*,
                               const Layout*, void*, const Layout* c, const void* stream) {
  if (transform == nullptr || a == nullptr || c == nullptr) return Status::kInvalidValue;
  Target target;
  if (current_target(&target) != Outcome::kSuccess) return Status::kNotInitialized;
  target.stream = stream;
  OtherWork work;
  work.type = number_type(c->type);
  const double numbers = static_cast<double>(c->rows) * static_cast<double>(c->columns) * c->batch;
  work.bytes = numbers * (bytes_of(number_type(a->type)) + bytes_of(work.type));
  return status_of(submit(target, "emulated cublasLtMatrixTransform", work));
}

Status cublasLtLoggerSetLevel(int) { return Status::kSuccess; }

}  // extern "C"
