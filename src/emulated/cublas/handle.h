#pragma once

#include "emulated/cublas/cublas_abi.h"
#include "emulated/cublas/status_text.h"
#include "emulated/library/library_call.h"
#include "emulated/library/number_types.h"

namespace unstarve::emulated::cublas {

/// What a cublasHandle_t points to. A program uses one on one thread at a time.
struct Handle {
  Target target;
  std::int32_t math = 0;  // Math, and bits above kMathModeBits
  PointerMode pointers = PointerMode::kHost;
  AtomicsMode atomics = AtomicsMode::kNotAllowed;
  int sm_count_target = 0;

  bool allows_tf32() const {
    return (math & kMathModeBits) == static_cast<std::int32_t>(Math::kTf32TensorOp);
  }
};

/// What a call of BLAS needs beyond multiplying matrices: `flops` operations on numbers of `type`,
/// and as many numbers read and written. `kernels`: those a call takes at the least.
struct Cost {
  NumberType type = NumberType::kF32;
  double flops = 0;
  double numbers = 0;
  int kernels = 1;
  bool matrices = false;  // multiplies matrices: the tensor cores' rate where floats may be rounded
};

inline Status submit_cost(Handle* handle, const char* name, const Cost& cost) {
  if (handle == nullptr) return Status::kNotInitialized;
  OtherWork work;
  work.flops = cost.flops * real_operations(cost.type);
  work.bytes = cost.numbers * bytes_of(cost.type);
  work.type = cost.type;
  work.tensor_cores = cost.matrices && (of_tensor_cores(cost.type) || handle->allows_tf32());
  work.kernels = cost.kernels;
  return status_of(submit_split(handle->target, name, work));
}

}  // namespace unstarve::emulated::cublas
