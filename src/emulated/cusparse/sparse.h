#pragma once

#include <new>

#include "emulated/cusparse/cusparse_abi.h"
#include "emulated/library/library_call.h"

/// What handles and matrices hold, and how a call of cuSPARSE becomes work.
namespace unstarve::emulated::cusparse {

/// What a cusparseHandle_t points to.
struct Handle {
  Target target;
  PointerMode pointers = PointerMode::kHost;
};

/// What a cusparseSpMatDescr_t points to.
struct SparseMatrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t entries = 0;  // that are stored
  std::int64_t batch = 1;
  IndexType index = IndexType::k32I;
  DataType type = DataType::kR32F;

  double stored() const { return static_cast<double>(entries) * static_cast<double>(batch); }
  double bytes() const;
};

/// What a cusparseDnMatDescr_t points to.
struct DenseMatrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t batch = 1;
  DataType type = DataType::kR32F;

  double bytes() const;
};

/// What a cusparseDnVecDescr_t points to.
struct DenseVector {
  std::int64_t size = 0;
  DataType type = DataType::kR32F;

  double bytes() const;
};

/// How functions that only read them take them.
using Sparse = const SparseMatrix;
using Dense = const DenseMatrix;
using Vector = const DenseVector;

/// What a cusparseMatDescr_t, a bsrsv2Info_t and other parameters point to.
struct Parameters {
  std::int32_t kept = 0;
};

template <class Object>
Status create(Object** out, const Object& value = {}) {
  if (out == nullptr) return Status::kInvalidValue;
  *out = new (std::nothrow) Object(value);
  return *out == nullptr ? Status::kAllocFailed : Status::kSuccess;
}

template <class Object>
Status destroy(Object* object) {
  delete object;
  return Status::kSuccess;
}

/// Work of `flops` operations on real numbers, bound by `bytes` as a rule.
struct Cost {
  NumberType type = NumberType::kF32;
  double flops = 0;
  double bytes = 0;
  int kernels = 1;
};

Status submit_cost(Handle* handle, const char* name, const Cost& cost);

/// Calls need room for intermediate results: so much at least, as an address must not be null.
inline constexpr std::size_t kBufferBytes = 1024;

template <class Size>
Status give_buffer_size(Size* bytes) {
  if (bytes == nullptr) return Status::kInvalidValue;
  *bytes = static_cast<Size>(kBufferBytes);
  return Status::kSuccess;
}

}  // namespace unstarve::emulated::cusparse
