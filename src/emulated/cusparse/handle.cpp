#include "emulated/cusparse/sparse.h"

// Handles, descriptors of matrices, and the names of statuses.

namespace unstarve::emulated::cusparse {

double SparseMatrix::bytes() const {
  const double index_bytes = index == IndexType::k64I ? 8 : 4;
  return stored() * (bytes_of(number_type(type)) + index_bytes) +
         static_cast<double>(rows) * static_cast<double>(batch) * index_bytes;
}

double DenseMatrix::bytes() const {
  return static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(batch) *
         bytes_of(number_type(type));
}

double DenseVector::bytes() const {
  return static_cast<double>(size) * bytes_of(number_type(type));
}

namespace {

Status accept(const void* object) {
  return object == nullptr ? Status::kInvalidValue : Status::kSuccess;
}

}  // namespace

Status submit_cost(Handle* handle, const char* name, const Cost& cost) {
  if (handle == nullptr) return Status::kNotInitialized;
  OtherWork work;
  work.type = cost.type;
  work.flops = cost.flops * real_operations(cost.type);
  work.bytes = cost.bytes;
  work.kernels = cost.kernels;
  return status_as<Status>(submit_split(handle->target, name, work));
}

extern "C" {

Status cusparseCreate(Handle** handle) {
  Target target;
  if (current_target(&target) != Outcome::kSuccess) return Status::kNotInitialized;
  return create(handle, Handle{target});
}

Status cusparseDestroy(Handle* handle) { return destroy(handle); }

Status cusparseGetVersion(Handle*, int* version) {
  if (version == nullptr) return Status::kInvalidValue;
  *version = kVersionParts[0] * 1000 + kVersionParts[1] * 100 + kVersionParts[2];
  return Status::kSuccess;
}

Status cusparseGetProperty(LibraryProperty property, int* value) {
  const auto index = static_cast<unsigned>(property);
  if (index > 2 || value == nullptr) return Status::kInvalidValue;
  *value = kVersionParts[index];
  return Status::kSuccess;
}

const char* cusparseGetErrorName(Status status) {
  switch (status) {
    case Status::kSuccess: return "CUSPARSE_STATUS_SUCCESS";
    case Status::kNotInitialized: return "CUSPARSE_STATUS_NOT_INITIALIZED";
    case Status::kAllocFailed: return "CUSPARSE_STATUS_ALLOC_FAILED";
    case Status::kInvalidValue: return "CUSPARSE_STATUS_INVALID_VALUE";
    case Status::kExecutionFailed: return "CUSPARSE_STATUS_EXECUTION_FAILED";
    case Status::kInternalError: return "CUSPARSE_STATUS_INTERNAL_ERROR";
    case Status::kNotSupported: return "CUSPARSE_STATUS_NOT_SUPPORTED";
  }
  return "CUSPARSE_STATUS_UNKNOWN";
}

const char* cusparseGetErrorString(Status status) {
  switch (status) {
    case Status::kSuccess: return "no error";
    case Status::kNotSupported: return "not supported by the emulated GPU";
    default: return "the call failed on the emulated GPU";
  }
}

Status cusparseSetStream(Handle* handle, const void* stream) {
  if (handle == nullptr) return Status::kNotInitialized;
  handle->target.stream = stream;
  return Status::kSuccess;
}

Status cusparseGetStream(Handle* handle, const void** stream) {
  if (handle == nullptr) return Status::kNotInitialized;
  if (stream == nullptr) return Status::kInvalidValue;
  *stream = handle->target.stream;
  return Status::kSuccess;
}

Status cusparseSetPointerMode(Handle* handle, PointerMode mode) {
  if (handle == nullptr) return Status::kNotInitialized;
  handle->pointers = mode;
  return Status::kSuccess;
}

Status cusparseGetPointerMode(Handle* handle, PointerMode* mode) {
  if (handle == nullptr) return Status::kNotInitialized;
  if (mode == nullptr) return Status::kInvalidValue;
  *mode = handle->pointers;
  return Status::kSuccess;
}

Status cusparseCreateCsr(SparseMatrix** out, std::int64_t rows, std::int64_t columns,
                         std::int64_t entries, void*, void*, void*, IndexType, IndexType index,
                         Choice, DataType type) {
  return create(out, SparseMatrix{rows, columns, entries, 1, index, type});
}

Status cusparseCreateCoo(SparseMatrix** out, std::int64_t rows, std::int64_t columns,
                         std::int64_t entries, void*, void*, void*, IndexType index, Choice,
                         DataType type) {
  return create(out, SparseMatrix{rows, columns, entries, 1, index, type});
}

Status cusparseDestroySpMat(SparseMatrix* matrix) { return destroy(matrix); }

Status cusparseCsrSetPointers(SparseMatrix* matrix, void*, void*, void*) { return accept(matrix); }

Status cusparseCsrSetStridedBatch(SparseMatrix* matrix, int batch, std::int64_t, std::int64_t) {
  if (matrix == nullptr || batch < 1) return Status::kInvalidValue;
  matrix->batch = batch;
  return Status::kSuccess;
}

Status cusparseSpMatGetSize(const SparseMatrix* matrix, std::int64_t* rows, std::int64_t* columns,
                            std::int64_t* entries) {
  if (matrix == nullptr || rows == nullptr || columns == nullptr || entries == nullptr) {
    return Status::kInvalidValue;
  }
  *rows = matrix->rows;
  *columns = matrix->columns;
  *entries = matrix->entries;
  return Status::kSuccess;
}

Status cusparseSpMatSetAttribute(SparseMatrix* matrix, Choice, void*, std::size_t) {
  return accept(matrix);
}

Status cusparseCreateDnMat(DenseMatrix** out, std::int64_t rows, std::int64_t columns, std::int64_t,
                           void*, DataType type, Choice) {
  return create(out, DenseMatrix{rows, columns, 1, type});
}

Status cusparseDestroyDnMat(DenseMatrix* matrix) { return destroy(matrix); }

Status cusparseDnMatSetStridedBatch(DenseMatrix* matrix, int batch, std::int64_t) {
  if (matrix == nullptr || batch < 1) return Status::kInvalidValue;
  matrix->batch = batch;
  return Status::kSuccess;
}

Status cusparseCreateDnVec(DenseVector** out, std::int64_t size, void*, DataType type) {
  return create(out, DenseVector{size, type});
}

Status cusparseDestroyDnVec(DenseVector* vector) { return destroy(vector); }

Status cusparseCreateMatDescr(Parameters** out) { return create(out); }
Status cusparseDestroyMatDescr(Parameters* parameters) { return destroy(parameters); }
Status cusparseSetMatType(Parameters* parameters, Choice) { return accept(parameters); }
Status cusparseSetMatFillMode(Parameters* parameters, Choice) { return accept(parameters); }
Status cusparseSetMatDiagType(Parameters* parameters, Choice) { return accept(parameters); }
Status cusparseSetMatIndexBase(Parameters* parameters, Choice) { return accept(parameters); }

}  // extern "C"
}  // namespace unstarve::emulated::cusparse
