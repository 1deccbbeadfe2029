#include "emulated/cusolver/solver.h"

// The interface with sizes of 64 bits, whose types are arguments.

using namespace unstarve::emulated;
using namespace unstarve::emulated::cusolver;

namespace {

double real(Size size) { return static_cast<double>(size); }

}  // namespace

extern "C" {

Status cusolverDnXgeqrf_bufferSize(Handle*, const void*, Size m, Size n, DataType type, const void*,
                                   Size, DataType, const void*, DataType, std::size_t* device,
                                   std::size_t* host) {
  return give_workspace_bytes(type, real(m > n ? m : n), device, host);
}

Status cusolverDnXgeqrf(Handle* handle, const void*, Size m, Size n, DataType type, void*, Size,
                        DataType, void*, DataType, void*, std::size_t, void*, std::size_t, int*) {
  return submit_cost(handle, "emulated cusolverDnXgeqrf", qr(number_type(type), real(m), real(n)));
}

Status cusolverDnXpotrf_bufferSize(Handle*, const void*, FillMode, Size n, DataType type,
                                   const void*, Size, DataType, std::size_t* device,
                                   std::size_t* host) {
  return give_workspace_bytes(type, real(n), device, host);
}

Status cusolverDnXpotrf(Handle* handle, const void*, FillMode, Size n, DataType type, void*, Size,
                        DataType, void*, std::size_t, void*, std::size_t, int*) {
  return submit_cost(handle, "emulated cusolverDnXpotrf", cholesky(number_type(type), real(n)));
}

Status cusolverDnXpotrs(Handle* handle, const void*, FillMode, Size n, Size sides, DataType type,
                        const void*, Size, DataType, void*, Size, int*) {
  return submit_cost(handle, "emulated cusolverDnXpotrs",
                     solve(number_type(type), real(n), real(sides)));
}

Status cusolverDnXsytrs_bufferSize(Handle*, FillMode, Size n, Size, DataType type, const void*,
                                   Size, const Size*, DataType, void*, Size, std::size_t* device,
                                   std::size_t* host) {
  return give_workspace_bytes(type, real(n), device, host);
}

Status cusolverDnXsytrs(Handle* handle, FillMode, Size n, Size sides, DataType type, const void*,
                        Size, const Size*, DataType, void*, Size, void*, std::size_t, void*,
                        std::size_t, int*) {
  return submit_cost(handle, "emulated cusolverDnXsytrs",
                     solve(number_type(type), real(n), real(sides)));
}

Status cusolverDnXsyevd_bufferSize(Handle*, const void*, Vectors, FillMode, Size n, DataType type,
                                   const void*, Size, DataType, const void*, DataType,
                                   std::size_t* device, std::size_t* host) {
  return give_workspace_bytes(type, real(n), device, host);
}

Status cusolverDnXsyevd(Handle* handle, const void*, Vectors vectors, FillMode, Size n,
                        DataType type, void*, Size, DataType, void*, DataType, void*, std::size_t,
                        void*, std::size_t, int*) {
  return submit_cost(handle, "emulated cusolverDnXsyevd",
                     symmetric_eigen(number_type(type), real(n), vectors));
}

Status cusolverDnXsyevBatched_bufferSize(Handle*, const void*, Vectors, FillMode, Size n,
                                         DataType type, const void*, Size, DataType, const void*,
                                         DataType, std::size_t* device, std::size_t* host, Size) {
  return give_workspace_bytes(type, real(n), device, host);
}

Status cusolverDnXsyevBatched(Handle* handle, const void*, Vectors vectors, FillMode, Size n,
                              DataType type, void*, Size, DataType, void*, DataType, void*,
                              std::size_t, void*, std::size_t, int*, Size batch) {
  return submit_cost(handle, "emulated cusolverDnXsyevBatched",
                     times(symmetric_eigen(number_type(type), real(n), vectors), real(batch)));
}

Status cusolverDnXgeev_bufferSize(Handle*, const void*, Vectors, Vectors, Size n, DataType type,
                                  const void*, Size, DataType, const void*, DataType, const void*,
                                  Size, DataType, const void*, Size, DataType, std::size_t* device,
                                  std::size_t* host) {
  return give_workspace_bytes(type, real(n), device, host);
}

Status cusolverDnXgeev(Handle* handle, const void*, Vectors, Vectors, Size n, DataType type, void*,
                       Size, DataType, void*, DataType, void*, Size, DataType, void*, Size,
                       DataType, void*, std::size_t, void*, std::size_t, int*) {
  return submit_cost(handle, "emulated cusolverDnXgeev", general_eigen(number_type(type), real(n)));
}

}  // extern "C"
