#include "emulated/cublas/handle.h"

// Many small systems of equations at once. What says whether each could be solved is zero: it
// could.

using namespace unstarve::emulated;
using namespace unstarve::emulated::cublas;

namespace {

double count(int value) { return value < 0 ? 0 : value; }

Cost factorisation(NumberType type, double flops, double numbers, int batch) {
  return {type, flops * count(batch), 2 * numbers * count(batch)};
}

/// The word in the host's memory that says whether the arguments were in order.
Status arguments_in_order(Handle* handle, int* info) {
  if (handle == nullptr) return Status::kNotInitialized;
  if (info == nullptr) return Status::kInvalidValue;
  *info = 0;
  return Status::kSuccess;
}

}  // namespace

#define UNSTARVE_BATCHED_SOLVERS(letter)                                                           \
  Status cublas##letter##getrfBatched(Handle* handle, int n, void* const*, int, int*, int*,        \
                                      int batch) {                                                 \
    const double order = count(n);                                                                 \
    return submit_cost(                                                                            \
        handle, "emulated cublas" #letter "getrfBatched",                                          \
        factorisation(kTypeOf##letter, order * order * order * 2 / 3, order * order, batch));      \
  }                                                                                                \
  Status cublas##letter##getrsBatched(Handle* handle, Operation, int n, int columns,               \
                                      const void* const*, int, const int*, void* const*, int,      \
                                      int* info, int batch) {                                      \
    const Status status = arguments_in_order(handle, info);                                        \
    if (status != Status::kSuccess) return status;                                                 \
    const double order = count(n);                                                                 \
    return submit_cost(handle, "emulated cublas" #letter "getrsBatched",                           \
                       factorisation(kTypeOf##letter, 2 * order * order * count(columns),          \
                                     order * (order + count(columns)), batch));                    \
  }                                                                                                \
  Status cublas##letter##geqrfBatched(Handle* handle, int m, int n, void* const*, int,             \
                                      void* const*, int* info, int batch) {                        \
    const Status status = arguments_in_order(handle, info);                                        \
    if (status != Status::kSuccess) return status;                                                 \
    return submit_cost(handle, "emulated cublas" #letter "geqrfBatched",                           \
                       factorisation(kTypeOf##letter, 2 * count(m) * count(n) * count(n),          \
                                     count(m) * count(n), batch));                                 \
  }                                                                                                \
  Status cublas##letter##gelsBatched(Handle* handle, Operation, int m, int n, int columns,         \
                                     void* const*, int, void* const*, int, int* info, int*,        \
                                     int batch) {                                                  \
    const Status status = arguments_in_order(handle, info);                                        \
    if (status != Status::kSuccess) return status;                                                 \
    const double width = count(n) + count(columns);                                                \
    return submit_cost(                                                                            \
        handle, "emulated cublas" #letter "gelsBatched",                                           \
        factorisation(kTypeOf##letter, 2 * count(m) * count(n) * width, count(m) * width, batch)); \
  }

extern "C" {
UNSTARVE_BATCHED_SOLVERS(S)
UNSTARVE_BATCHED_SOLVERS(D)
UNSTARVE_BATCHED_SOLVERS(C)
UNSTARVE_BATCHED_SOLVERS(Z)
}  // extern "C"
