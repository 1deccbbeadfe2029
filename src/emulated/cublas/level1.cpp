#include "emulated/cublas/handle.h"

// Vectors: bound by reading them. A result that goes to the host is waited for.

using namespace unstarve::emulated;
using namespace unstarve::emulated::cublas;

namespace {

/// `passes` reads and writes of n numbers.
Status over_vector(Handle* handle, const char* name, NumberType type, double n, double passes) {
  if (handle == nullptr) return Status::kNotInitialized;
  if (n <= 0) return Status::kSuccess;
  return submit_cost(handle, name, {type, 2 * n, passes * n});
}

/// The number that the call gives back: zero.
Status give_zero(Handle* handle, Status status, void* result, NumberType type) {
  if (status != Status::kSuccess || handle->pointers == PointerMode::kDevice) return status;
  if (result == nullptr) return Status::kInvalidValue;
  return status_of(
      wait_for_zeros(handle->target, result, static_cast<std::size_t>(bytes_of(type))));
}

/// The place of the largest number, counted from one: all are equal, so it is the first.
Status give_first(Handle* handle, Status status, int n, int* place) {
  status = give_zero(handle, status, place, NumberType::kI32);
  if (status == Status::kSuccess && handle->pointers == PointerMode::kHost && n > 0) *place = 1;
  return status;
}

/// The type of a norm: real.
constexpr NumberType real_of(NumberType type) {
  if (type == NumberType::kC64) return NumberType::kF32;
  if (type == NumberType::kC128) return NumberType::kF64;
  return type;
}

}  // namespace

#define UNSTARVE_VECTORS(letter)                                                              \
  Status cublas##letter##axpy_v2(Handle* handle, int n, const void*, const void*, int, void*, \
                                 int) {                                                       \
    return over_vector(handle, "emulated cublas" #letter "axpy", kTypeOf##letter, n, 3);      \
  }                                                                                           \
  Status cublas##letter##copy_v2(Handle* handle, int n, const void*, int, void*, int) {       \
    return over_vector(handle, "emulated cublas" #letter "copy", kTypeOf##letter, n, 2);      \
  }                                                                                           \
  Status cublas##letter##swap_v2(Handle* handle, int n, void*, int, void*, int) {             \
    return over_vector(handle, "emulated cublas" #letter "swap", kTypeOf##letter, n, 4);      \
  }                                                                                           \
  Status cublas##letter##scal_v2(Handle* handle, int n, const void*, void*, int) {            \
    return over_vector(handle, "emulated cublas" #letter "scal", kTypeOf##letter, n, 2);      \
  }                                                                                           \
  Status cublas##letter##rot_v2(Handle* handle, int n, void*, int, void*, int, const void*,   \
                                const void*) {                                                \
    return over_vector(handle, "emulated cublas" #letter "rot", kTypeOf##letter, n, 4);       \
  }
#define UNSTARVE_REAL_FACTORS(letters, type)                                                 \
  Status cublas##letters##scal_v2(Handle* handle, int n, const void*, void*, int) {          \
    return over_vector(handle, "emulated cublas" #letters "scal", type, n, 2);               \
  }                                                                                          \
  Status cublas##letters##rot_v2(Handle* handle, int n, void*, int, void*, int, const void*, \
                                 const void*) {                                              \
    return over_vector(handle, "emulated cublas" #letters "rot", type, n, 4);                \
  }
#define UNSTARVE_ROTM(letter)                                                                  \
  Status cublas##letter##rotm_v2(Handle* handle, int n, void*, int, void*, int, const void*) { \
    return over_vector(handle, "emulated cublas" #letter "rotm", kTypeOf##letter, n, 4);       \
  }
#define UNSTARVE_DOT(letter, kind)                                                            \
  Status cublas##letter##kind##_v2(Handle* handle, int n, const void*, int, const void*, int, \
                                   void* result) {                                            \
    const Status status =                                                                     \
        over_vector(handle, "emulated cublas" #letter #kind, kTypeOf##letter, n, 2);          \
    return give_zero(handle, status, result, kTypeOf##letter);                                \
  }
#define UNSTARVE_NORM(letters, kind, type)                                                   \
  Status cublas##letters##kind##_v2(Handle* handle, int n, const void*, int, void* result) { \
    const Status status = over_vector(handle, "emulated cublas" #letters #kind, type, n, 1); \
    return give_zero(handle, status, result, real_of(type));                                 \
  }
#define UNSTARVE_EXTREMES(letter, type)                                                           \
  Status cublasI##letter##amax_v2(Handle* handle, int n, const void*, int, int* place) {          \
    return give_first(handle, over_vector(handle, "emulated cublasI" #letter "amax", type, n, 1), \
                      n, place);                                                                  \
  }                                                                                               \
  Status cublasI##letter##amin_v2(Handle* handle, int n, const void*, int, int* place) {          \
    return give_first(handle, over_vector(handle, "emulated cublasI" #letter "amin", type, n, 1), \
                      n, place);                                                                  \
  }

extern "C" {
UNSTARVE_VECTORS(S)
UNSTARVE_VECTORS(D)
UNSTARVE_VECTORS(C)
UNSTARVE_VECTORS(Z)
UNSTARVE_REAL_FACTORS(Cs, kTypeOfC)
UNSTARVE_REAL_FACTORS(Zd, kTypeOfZ)
UNSTARVE_ROTM(S)
UNSTARVE_ROTM(D)
UNSTARVE_DOT(S, dot)
UNSTARVE_DOT(D, dot)
UNSTARVE_DOT(C, dotu)
UNSTARVE_DOT(C, dotc)
UNSTARVE_DOT(Z, dotu)
UNSTARVE_DOT(Z, dotc)
UNSTARVE_NORM(S, nrm2, kTypeOfS)
UNSTARVE_NORM(D, nrm2, kTypeOfD)
UNSTARVE_NORM(Sc, nrm2, kTypeOfC)
UNSTARVE_NORM(Dz, nrm2, kTypeOfZ)
UNSTARVE_NORM(S, asum, kTypeOfS)
UNSTARVE_NORM(D, asum, kTypeOfD)
UNSTARVE_NORM(Sc, asum, kTypeOfC)
UNSTARVE_NORM(Dz, asum, kTypeOfZ)
UNSTARVE_EXTREMES(s, kTypeOfS)
UNSTARVE_EXTREMES(d, kTypeOfD)
UNSTARVE_EXTREMES(c, kTypeOfC)
UNSTARVE_EXTREMES(z, kTypeOfZ)

Status cublasDotEx(Handle* handle, int n, const void*, DataType type, int, const void*, DataType,
                   int, void* result, DataType result_type, DataType) {
  const Status status = over_vector(handle, "emulated cublasDotEx", number_type(type), n, 2);
  return give_zero(handle, status, result, number_type(result_type));
}

}  // extern "C"
