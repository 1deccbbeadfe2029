#include "emulated/cublas/handle.h"

// A matrix and a vector: bound by reading the matrix.

using namespace unstarve::emulated;
using namespace unstarve::emulated::cublas;

namespace {

/// y = A x, or A += x y^T: each number of the matrix once; `part` of it is looked at.
Cost matrix_and_vector(NumberType type, double m, double n, double part = 1) {
  if (m < 0) m = 0;
  if (n < 0) n = 0;
  return {type, 2 * m * n * part, m * n * part + m + n};
}

}  // namespace

#define UNSTARVE_GENERAL_PRODUCT(letter)                                                        \
  Status cublas##letter##gemv_v2(Handle* handle, Operation, int m, int n, const void*,          \
                                 const void*, int, const void*, int, const void*, void*, int) { \
    return submit_cost(handle, "emulated cublas" #letter "gemv",                                \
                       matrix_and_vector(kTypeOf##letter, m, n));                               \
  }
#define UNSTARVE_GENERAL_UPDATE(letter, kind)                                                   \
  Status cublas##letter##kind##_v2(Handle* handle, int m, int n, const void*, const void*, int, \
                                   const void*, int, void*, int) {                              \
    return submit_cost(handle, "emulated cublas" #letter #kind,                                 \
                       matrix_and_vector(kTypeOf##letter, m, n));                               \
  }
#define UNSTARVE_SYMMETRIC(letter, kind)                                                        \
  Status cublas##letter##kind##mv_v2(Handle* handle, FillMode, int n, const void*, const void*, \
                                     int, const void*, int, const void*, void*, int) {          \
    return submit_cost(handle, "emulated cublas" #letter #kind "mv",                            \
                       matrix_and_vector(kTypeOf##letter, n, n));                               \
  }                                                                                             \
  Status cublas##letter##kind##r_v2(Handle* handle, FillMode, int n, const void*, const void*,  \
                                    int, void*, int) {                                          \
    return submit_cost(handle, "emulated cublas" #letter #kind "r",                             \
                       matrix_and_vector(kTypeOf##letter, n, n, 0.5));                          \
  }                                                                                             \
  Status cublas##letter##kind##r2_v2(Handle* handle, FillMode, int n, const void*, const void*, \
                                     int, const void*, int, void*, int) {                       \
    return submit_cost(handle, "emulated cublas" #letter #kind "r2",                            \
                       matrix_and_vector(kTypeOf##letter, n, n, 0.5));                          \
  }
#define UNSTARVE_TRIANGULAR(letter, routine)                                                \
  Status cublas##letter##routine##_v2(Handle* handle, FillMode, Operation, Diagonal, int n, \
                                      const void*, int, void*, int) {                       \
    return submit_cost(handle, "emulated cublas" #letter #routine,                          \
                       matrix_and_vector(kTypeOf##letter, n, n, 0.5));                      \
  }

extern "C" {
UNSTARVE_GENERAL_PRODUCT(S)
UNSTARVE_GENERAL_PRODUCT(D)
UNSTARVE_GENERAL_PRODUCT(C)
UNSTARVE_GENERAL_PRODUCT(Z)
UNSTARVE_GENERAL_UPDATE(S, ger)
UNSTARVE_GENERAL_UPDATE(D, ger)
UNSTARVE_GENERAL_UPDATE(C, geru)
UNSTARVE_GENERAL_UPDATE(C, gerc)
UNSTARVE_GENERAL_UPDATE(Z, geru)
UNSTARVE_GENERAL_UPDATE(Z, gerc)
UNSTARVE_SYMMETRIC(S, sy)
UNSTARVE_SYMMETRIC(D, sy)
UNSTARVE_SYMMETRIC(C, sy)
UNSTARVE_SYMMETRIC(Z, sy)
UNSTARVE_SYMMETRIC(C, he)
UNSTARVE_SYMMETRIC(Z, he)
UNSTARVE_TRIANGULAR(S, trmv)
UNSTARVE_TRIANGULAR(D, trmv)
UNSTARVE_TRIANGULAR(C, trmv)
UNSTARVE_TRIANGULAR(Z, trmv)
UNSTARVE_TRIANGULAR(S, trsv)
UNSTARVE_TRIANGULAR(D, trsv)
UNSTARVE_TRIANGULAR(C, trsv)
UNSTARVE_TRIANGULAR(Z, trsv)
}  // extern "C"
