#include "emulated/cublas/handle.h"

// Products and equations of special matrices: symmetric, Hermitian, triangular.

using namespace unstarve::emulated;
using namespace unstarve::emulated::cublas;

namespace {

double size_of(int count) { return count < 0 ? 0 : count; }

/// A symmetric matrix times a general one, from the side that says which order it has.
Cost symmetric_product(NumberType type, Side side, int rows, int columns) {
  const double m = size_of(rows);
  const double n = size_of(columns);
  const double order = side == Side::kLeft ? m : n;
  return {type, 2 * m * n * order, order * order + 2 * m * n, 1, true};
}

/// A triangular one: half the work. Solving for it goes block by block.
Cost triangular_product(NumberType type, Side side, int rows, int columns) {
  Cost cost = symmetric_product(type, side, rows, columns);
  cost.flops /= 2;
  return cost;
}

/// A times its own transpose, `products` times: half of the square is written.
Cost rank_update(NumberType type, int order, int inner, double products) {
  const double n = size_of(order);
  const double k = size_of(inner);
  return {type, products * n * n * k, products * n * k + n * n, 1, true};
}

Cost batched(Cost cost, int batch) {
  cost.flops *= size_of(batch);
  cost.numbers *= size_of(batch);
  return cost;
}

}  // namespace

#define UNSTARVE_SYMMETRIC_PRODUCT(letter, kind)                                                   \
  Status cublas##letter##kind##mm_v2(Handle* handle, Side side, FillMode, int m, int n,            \
                                     const void*, const void*, int, const void*, int, const void*, \
                                     void*, int) {                                                 \
    return submit_cost(handle, "emulated cublas" #letter #kind "mm",                               \
                       symmetric_product(kTypeOf##letter, side, m, n));                            \
  }
#define UNSTARVE_RANK_UPDATES(letter, kind)                                                        \
  Status cublas##letter##kind##k_v2(Handle* handle, FillMode, Operation, int n, int k,             \
                                    const void*, const void*, int, const void*, void*, int) {      \
    return submit_cost(handle, "emulated cublas" #letter #kind "k",                                \
                       rank_update(kTypeOf##letter, n, k, 1));                                     \
  }                                                                                                \
  Status cublas##letter##kind##2k_v2(Handle * handle, FillMode, Operation, int n, int k,           \
                                     const void*, const void*, int, const void*, int, const void*, \
                                     void*, int) {                                                 \
    return submit_cost(handle, "emulated cublas" #letter #kind "2k",                               \
                       rank_update(kTypeOf##letter, n, k, 2));                                     \
  }
#define UNSTARVE_TRIANGULAR_PRODUCT(letter)                                                       \
  Status cublas##letter##trmm_v2(Handle* handle, Side side, FillMode, Operation, Diagonal, int m, \
                                 int n, const void*, const void*, int, const void*, int, void*,   \
                                 int) {                                                           \
    return submit_cost(handle, "emulated cublas" #letter "trmm",                                  \
                       triangular_product(kTypeOf##letter, side, m, n));                          \
  }                                                                                               \
  Status cublas##letter##trsm_v2(Handle* handle, Side side, FillMode, Operation, Diagonal, int m, \
                                 int n, const void*, const void*, int, void*, int) {              \
    return submit_cost(handle, "emulated cublas" #letter "trsm",                                  \
                       triangular_product(kTypeOf##letter, side, m, n));                          \
  }                                                                                               \
  Status cublas##letter##trsmBatched(Handle* handle, Side side, FillMode, Operation, Diagonal,    \
                                     int m, int n, const void*, const void* const*, int,          \
                                     void* const*, int, int batch) {                              \
    return submit_cost(handle, "emulated cublas" #letter "trsmBatched",                           \
                       batched(triangular_product(kTypeOf##letter, side, m, n), batch));          \
  }

extern "C" {
UNSTARVE_SYMMETRIC_PRODUCT(S, sy)
UNSTARVE_SYMMETRIC_PRODUCT(D, sy)
UNSTARVE_SYMMETRIC_PRODUCT(C, sy)
UNSTARVE_SYMMETRIC_PRODUCT(Z, sy)
UNSTARVE_SYMMETRIC_PRODUCT(C, he)
UNSTARVE_SYMMETRIC_PRODUCT(Z, he)
UNSTARVE_RANK_UPDATES(S, syr)
UNSTARVE_RANK_UPDATES(D, syr)
UNSTARVE_RANK_UPDATES(C, syr)
UNSTARVE_RANK_UPDATES(Z, syr)
UNSTARVE_RANK_UPDATES(C, her)
UNSTARVE_RANK_UPDATES(Z, her)
UNSTARVE_TRIANGULAR_PRODUCT(S)
UNSTARVE_TRIANGULAR_PRODUCT(D)
UNSTARVE_TRIANGULAR_PRODUCT(C)
UNSTARVE_TRIANGULAR_PRODUCT(Z)
}  // extern "C"
