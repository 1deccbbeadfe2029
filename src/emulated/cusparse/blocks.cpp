#include "emulated/cusparse/sparse.h"

// Matrices of dense blocks, and sums of sparse ones: the interface before the generic one.

using namespace unstarve::emulated;
using namespace unstarve::emulated::cusparse;

namespace {

/// Blocks of a matrix, and how many columns they are multiplied with.
struct Blocks {
  NumberType type;
  int blocks;
  int block_size;
  int rows;  // of blocks
  int columns;
};

Status over_blocks(Handle* handle, const char* name, const Blocks& shape) {
  const double size = shape.block_size;
  const double numbers = shape.blocks * size * size;
  const double dense = 2.0 * shape.rows * size * shape.columns;
  return submit_cost(handle, name,
                     {shape.type, 2 * numbers * shape.columns,
                      (numbers + dense) * bytes_of(shape.type) + 4.0 * shape.blocks});
}

Status sum(Handle* handle, const char* name, NumberType type, double entries) {
  return submit_cost(handle, name, {type, entries, 2 * entries * (bytes_of(type) + 4)});
}

/// No entry on the diagonal is zero.
Status no_zero_pivot(const Handle* handle, int* position) {
  if (handle == nullptr) return Status::kNotInitialized;
  if (handle->pointers == PointerMode::kHost && position != nullptr) *position = -1;
  return Status::kSuccess;
}

}  // namespace

#define UNSTARVE_BLOCKS(letter)                                                                    \
  Status cusparse##letter##bsrmv(Handle* handle, Choice, Operation, int rows, int, int blocks,     \
                                 const void*, const Parameters*, const void*, const int*,          \
                                 const int*, int size, const void*, const void*, void*) {          \
    return over_blocks(handle, "emulated cusparse" #letter "bsrmv",                                \
                       {kTypeOf##letter, blocks, size, rows, 1});                                  \
  }                                                                                                \
  Status cusparse##letter##bsrmm(Handle* handle, Choice, Operation, Operation, int rows, int n,    \
                                 int, int blocks, const void*, const Parameters*, const void*,     \
                                 const int*, const int*, int size, const void*, int, const void*,  \
                                 void*, int) {                                                     \
    return over_blocks(handle, "emulated cusparse" #letter "bsrmm",                                \
                       {kTypeOf##letter, blocks, size, rows, n});                                  \
  }                                                                                                \
  Status cusparse##letter##bsrsv2_bufferSize(Handle*, Choice, Operation, int, int,                 \
                                             const Parameters*, void*, const int*, const int*,     \
                                             int, Parameters*, int* bytes) {                       \
    return give_buffer_size(bytes);                                                                \
  }                                                                                                \
  Status cusparse##letter##bsrsv2_analysis(Handle* handle, Choice, Operation, int rows,            \
                                           int blocks, const Parameters*, const void*, const int*, \
                                           const int*, int size, Parameters*, Choice, void*) {     \
    return over_blocks(handle, "emulated cusparse" #letter "bsrsv2_analysis",                      \
                       {kTypeOf##letter, blocks, size, rows, 1});                                  \
  }                                                                                                \
  Status cusparse##letter##bsrsv2_solve(Handle* handle, Choice, Operation, int rows, int blocks,   \
                                        const void*, const Parameters*, const void*, const int*,   \
                                        const int*, int size, Parameters*, const void*, void*,     \
                                        Choice, void*) {                                           \
    return over_blocks(handle, "emulated cusparse" #letter "bsrsv2_solve",                         \
                       {kTypeOf##letter, blocks, size, rows, 1});                                  \
  }                                                                                                \
  Status cusparse##letter##bsrsm2_bufferSize(Handle*, Choice, Operation, Operation, int, int, int, \
                                             const Parameters*, void*, const int*, const int*,     \
                                             int, Parameters*, int* bytes) {                       \
    return give_buffer_size(bytes);                                                                \
  }                                                                                                \
  Status cusparse##letter##bsrsm2_analysis(Handle* handle, Choice, Operation, Operation, int rows, \
                                           int n, int blocks, const Parameters*, const void*,      \
                                           const int*, const int*, int size, Parameters*, Choice,  \
                                           void*) {                                                \
    return over_blocks(handle, "emulated cusparse" #letter "bsrsm2_analysis",                      \
                       {kTypeOf##letter, blocks, size, rows, n});                                  \
  }                                                                                                \
  Status cusparse##letter##bsrsm2_solve(                                                           \
      Handle* handle, Choice, Operation, Operation, int rows, int n, int blocks, const void*,      \
      const Parameters*, const void*, const int*, const int*, int size, Parameters*, const void*,  \
      int, void*, int, Choice, void*) {                                                            \
    return over_blocks(handle, "emulated cusparse" #letter "bsrsm2_solve",                         \
                       {kTypeOf##letter, blocks, size, rows, n});                                  \
  }

#define UNSTARVE_SUM(letter)                                                                       \
  Status cusparse##letter##csrgeam2_bufferSizeExt(                                                 \
      Handle*, int, int, const void*, const Parameters*, int, const void*, const int*, const int*, \
      const void*, const Parameters*, int, const void*, const int*, const int*, const Parameters*, \
      const void*, const int*, const int*, std::size_t* bytes) {                                   \
    return give_buffer_size(bytes);                                                                \
  }                                                                                                \
  Status cusparse##letter##csrgeam2(Handle* handle, int, int, const void*, const Parameters*,      \
                                    int a, const void*, const int*, const int*, const void*,       \
                                    const Parameters*, int b, const void*, const int*, const int*, \
                                    const Parameters*, void*, int*, int*, void*) {                 \
    return sum(handle, "emulated cusparse" #letter "csrgeam2", kTypeOf##letter,                    \
               static_cast<double>(a) + b);                                                        \
  }

extern "C" {

UNSTARVE_BLOCKS(S)
UNSTARVE_BLOCKS(D)
UNSTARVE_BLOCKS(C)
UNSTARVE_BLOCKS(Z)
UNSTARVE_SUM(S)
UNSTARVE_SUM(D)
UNSTARVE_SUM(C)
UNSTARVE_SUM(Z)

/// The sum of two matrices of zeros has no entries.
Status cusparseXcsrgeam2Nnz(Handle* handle, int, int, const Parameters*, int a, const int*,
                            const int*, const Parameters*, int b, const int*, const int*,
                            const Parameters*, int*, int* entries, void*) {
  const Status status =
      sum(handle, "emulated cusparseXcsrgeam2Nnz", NumberType::kI32, static_cast<double>(a) + b);
  if (status == Status::kSuccess && handle->pointers == PointerMode::kHost && entries != nullptr) {
    *entries = 0;
  }
  return status;
}

Status cusparseCreateBsrsv2Info(Parameters** out) { return create(out); }
Status cusparseDestroyBsrsv2Info(Parameters* parameters) { return destroy(parameters); }
Status cusparseCreateBsrsm2Info(Parameters** out) { return create(out); }
Status cusparseDestroyBsrsm2Info(Parameters* parameters) { return destroy(parameters); }
Status cusparseXbsrsv2_zeroPivot(Handle* handle, Parameters*, int* position) {
  return no_zero_pivot(handle, position);
}
Status cusparseXbsrsm2_zeroPivot(Handle* handle, Parameters*, int* position) {
  return no_zero_pivot(handle, position);
}

}  // extern "C"
