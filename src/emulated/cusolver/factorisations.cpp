#include "emulated/cusolver/solver.h"

// QR, LU, Cholesky and LDL^T, and solving with them. What says whether a matrix could be factorised
// lies in the device's memory, so it is zero: it could.

using namespace unstarve::emulated;
using namespace unstarve::emulated::cusolver;

#define UNSTARVE_FACTORISE(letter)                                                                 \
  Status cusolverDn##letter##geqrf_bufferSize(Handle*, int m, int n, void*, int, int* numbers) {   \
    return give_workspace(numbers, m, n);                                                          \
  }                                                                                                \
  Status cusolverDn##letter##geqrf(Handle* handle, int m, int n, void*, int, void*, void*, int,    \
                                   int*) {                                                         \
    return submit_cost(handle, "emulated cusolverDn" #letter "geqrf", qr(kTypeOf##letter, m, n));  \
  }                                                                                                \
  Status cusolverDn##letter##getrf_bufferSize(Handle*, int m, int n, void*, int, int* numbers) {   \
    return give_workspace(numbers, m, n);                                                          \
  }                                                                                                \
  Status cusolverDn##letter##getrf(Handle* handle, int m, int n, void*, int, void*, int*, int*) {  \
    return submit_cost(handle, "emulated cusolverDn" #letter "getrf", lu(kTypeOf##letter, m, n));  \
  }                                                                                                \
  Status cusolverDn##letter##getrs(Handle* handle, Operation, int n, int sides, const void*, int,  \
                                   const int*, void*, int, int*) {                                 \
    return submit_cost(handle, "emulated cusolverDn" #letter "getrs",                              \
                       solve(kTypeOf##letter, n, sides));                                          \
  }                                                                                                \
  Status cusolverDn##letter##potrf_bufferSize(Handle*, FillMode, int n, void*, int,                \
                                              int* numbers) {                                      \
    return give_workspace(numbers, n, n);                                                          \
  }                                                                                                \
  Status cusolverDn##letter##potrf(Handle* handle, FillMode, int n, void*, int, void*, int,        \
                                   int*) {                                                         \
    return submit_cost(handle, "emulated cusolverDn" #letter "potrf",                              \
                       cholesky(kTypeOf##letter, n));                                              \
  }                                                                                                \
  Status cusolverDn##letter##potrfBatched(Handle* handle, FillMode, int n, void* const*, int,      \
                                          int*, int batch) {                                       \
    return submit_cost(handle, "emulated cusolverDn" #letter "potrfBatched",                       \
                       times(cholesky(kTypeOf##letter, n), batch));                                \
  }                                                                                                \
  Status cusolverDn##letter##potrs(Handle* handle, FillMode, int n, int sides, const void*, int,   \
                                   void*, int, int*) {                                             \
    return submit_cost(handle, "emulated cusolverDn" #letter "potrs",                              \
                       solve(kTypeOf##letter, n, sides));                                          \
  }                                                                                                \
  Status cusolverDn##letter##potrsBatched(Handle* handle, FillMode, int n, int sides,              \
                                          void* const*, int, void* const*, int, int*, int batch) { \
    return submit_cost(handle, "emulated cusolverDn" #letter "potrsBatched",                       \
                       times(solve(kTypeOf##letter, n, sides), batch));                            \
  }                                                                                                \
  Status cusolverDn##letter##sytrf_bufferSize(Handle*, int n, void*, int, int* numbers) {          \
    return give_workspace(numbers, n, n);                                                          \
  }                                                                                                \
  Status cusolverDn##letter##sytrf(Handle* handle, FillMode, int n, void*, int, int*, void*, int,  \
                                   int*) {                                                         \
    return submit_cost(handle, "emulated cusolverDn" #letter "sytrf",                              \
                       symmetric_factors(kTypeOf##letter, n));                                     \
  }

// Q of a QR factorisation: "or" of real matrices, "un" of complex ones.
#define UNSTARVE_Q(letter, kind)                                                                   \
  Status cusolverDn##letter##kind##gqr_bufferSize(Handle*, int m, int n, int, const void*, int,    \
                                                  const void*, int* numbers) {                     \
    return give_workspace(numbers, m, n);                                                          \
  }                                                                                                \
  Status cusolverDn##letter##kind##gqr(Handle* handle, int m, int n, int k, void*, int,            \
                                       const void*, void*, int, int*) {                            \
    return submit_cost(handle, "emulated cusolverDn" #letter #kind "gqr",                          \
                       apply_q(kTypeOf##letter, m, n, k));                                         \
  }                                                                                                \
  Status cusolverDn##letter##kind##mqr_bufferSize(Handle*, Side, Operation, int m, int n, int,     \
                                                  const void*, int, const void*, const void*, int, \
                                                  int* numbers) {                                  \
    return give_workspace(numbers, m, n);                                                          \
  }                                                                                                \
  Status cusolverDn##letter##kind##mqr(Handle* handle, Side, Operation, int m, int n, int k,       \
                                       const void*, int, const void*, void*, int, void*, int,      \
                                       int*) {                                                     \
    return submit_cost(handle, "emulated cusolverDn" #letter #kind "mqr",                          \
                       apply_q(kTypeOf##letter, m, n, k));                                         \
  }

extern "C" {
UNSTARVE_FACTORISE(S)
UNSTARVE_FACTORISE(D)
UNSTARVE_FACTORISE(C)
UNSTARVE_FACTORISE(Z)
UNSTARVE_Q(S, or)
UNSTARVE_Q(D, or)
UNSTARVE_Q(C, un)
UNSTARVE_Q(Z, un)
}  // extern "C"
