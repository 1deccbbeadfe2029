#include <algorithm>

#include "emulated/cusolver/solver.h"

// Eigenvalues and singular values.

using namespace unstarve::emulated;
using namespace unstarve::emulated::cusolver;

namespace {

bool wanted(signed char job) { return job != 'N'; }

/// Residuals that a call leaves on the host: none is left.
void clear_residuals(double* residuals, int batch) {
  if (residuals != nullptr) std::fill_n(residuals, std::max(0, batch), 0.0);
}

}  // namespace

// Of symmetric matrices, "sy", and of Hermitian ones, "he".
#define UNSTARVE_EIGEN(letter, kind)                                                              \
  Status cusolverDn##letter##kind##evd_bufferSize(Handle*, Vectors, FillMode, int n, const void*, \
                                                  int, const void*, int* numbers) {               \
    return give_workspace(numbers, n, n);                                                         \
  }                                                                                               \
  Status cusolverDn##letter##kind##evd(Handle* handle, Vectors vectors, FillMode, int n, void*,   \
                                       int, void*, void*, int, int*) {                            \
    return submit_cost(handle, "emulated cusolverDn" #letter #kind "evd",                         \
                       symmetric_eigen(kTypeOf##letter, n, vectors));                             \
  }                                                                                               \
  Status cusolverDn##letter##kind##evj_bufferSize(Handle*, Vectors, FillMode, int n, const void*, \
                                                  int, const void*, int* numbers, const void*) {  \
    return give_workspace(numbers, n, n);                                                         \
  }                                                                                               \
  Status cusolverDn##letter##kind##evj(Handle* handle, Vectors vectors, FillMode, int n, void*,   \
                                       int, void*, void*, int, int*, const void*) {               \
    return submit_cost(handle, "emulated cusolverDn" #letter #kind "evj",                         \
                       symmetric_eigen(kTypeOf##letter, n, vectors));                             \
  }                                                                                               \
  Status cusolverDn##letter##kind##evjBatched_bufferSize(Handle*, Vectors, FillMode, int n,       \
                                                         const void*, int, const void*,           \
                                                         int* numbers, const void*, int) {        \
    return give_workspace(numbers, n, n);                                                         \
  }                                                                                               \
  Status cusolverDn##letter##kind##evjBatched(Handle* handle, Vectors vectors, FillMode, int n,   \
                                              void*, int, void*, void*, int, int*, const void*,   \
                                              int batch) {                                        \
    return submit_cost(handle, "emulated cusolverDn" #letter #kind "evjBatched",                  \
                       times(symmetric_eigen(kTypeOf##letter, n, vectors), batch));               \
  }

#define UNSTARVE_SINGULAR(letter)                                                                \
  Status cusolverDn##letter##gesvd_bufferSize(Handle*, int m, int n, int* numbers) {             \
    return give_workspace(numbers, m, n);                                                        \
  }                                                                                              \
  Status cusolverDn##letter##gesvd(Handle* handle, signed char left, signed char right, int m,   \
                                   int n, void*, int, void*, void*, int, void*, int, void*, int, \
                                   void*, int*) {                                                \
    return submit_cost(handle, "emulated cusolverDn" #letter "gesvd",                            \
                       singular_values(kTypeOf##letter, m, n, wanted(left) || wanted(right)));   \
  }                                                                                              \
  Status cusolverDn##letter##gesvdj_bufferSize(Handle*, Vectors, int, int m, int n, const void*, \
                                               int, const void*, const void*, int, const void*,  \
                                               int, int* numbers, const void*) {                 \
    return give_workspace(numbers, m, n);                                                        \
  }                                                                                              \
  Status cusolverDn##letter##gesvdj(Handle* handle, Vectors vectors, int, int m, int n, void*,   \
                                    int, void*, void*, int, void*, int, void*, int, int*,        \
                                    const void*) {                                               \
    return submit_cost(handle, "emulated cusolverDn" #letter "gesvdj",                           \
                       singular_values(kTypeOf##letter, m, n, vectors == Vectors::kAlso));       \
  }                                                                                              \
  Status cusolverDn##letter##gesvdjBatched_bufferSize(                                           \
      Handle*, Vectors, int m, int n, const void*, int, const void*, const void*, int,           \
      const void*, int, int* numbers, const void*, int) {                                        \
    return give_workspace(numbers, m, n);                                                        \
  }                                                                                              \
  Status cusolverDn##letter##gesvdjBatched(Handle* handle, Vectors vectors, int m, int n, void*, \
                                           int, void*, void*, int, void*, int, void*, int, int*, \
                                           const void*, int batch) {                             \
    return submit_cost(                                                                          \
        handle, "emulated cusolverDn" #letter "gesvdjBatched",                                   \
        times(singular_values(kTypeOf##letter, m, n, vectors == Vectors::kAlso), batch));        \
  }                                                                                              \
  Status cusolverDn##letter##gesvdaStridedBatched_bufferSize(                                    \
      Handle*, Vectors, int, int m, int n, const void*, int, long long, const void*, long long,  \
      const void*, int, long long, const void*, int, long long, int* numbers, int) {             \
    return give_workspace(numbers, m, n);                                                        \
  }                                                                                              \
  Status cusolverDn##letter##gesvdaStridedBatched(                                               \
      Handle* handle, Vectors vectors, int, int m, int n, const void*, int, long long, void*,    \
      long long, void*, int, long long, void*, int, long long, void*, int, int*,                 \
      double* residuals, int batch) {                                                            \
    clear_residuals(residuals, batch);                                                           \
    return submit_cost(                                                                          \
        handle, "emulated cusolverDn" #letter "gesvdaStridedBatched",                            \
        times(singular_values(kTypeOf##letter, m, n, vectors == Vectors::kAlso), batch));        \
  }

extern "C" {
UNSTARVE_EIGEN(S, sy)
UNSTARVE_EIGEN(D, sy)
UNSTARVE_EIGEN(C, he)
UNSTARVE_EIGEN(Z, he)
UNSTARVE_SINGULAR(S)
UNSTARVE_SINGULAR(D)
UNSTARVE_SINGULAR(C)
UNSTARVE_SINGULAR(Z)
}  // extern "C"
