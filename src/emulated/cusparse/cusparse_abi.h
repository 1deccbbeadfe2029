#pragma once

#include <cstddef>
#include <cstdint>

#include "emulated/library/number_types.h"

/// The part of cuSPARSE's binary interface that is used here, declared anew; CUDA 12 and 13 both
/// have libcusparse.so.12. Pointers to numbers are void: what they point to is not looked at.
namespace unstarve::emulated::cusparse {

/// cusparseStatus_t.
enum class Status : std::int32_t {
  kSuccess = 0,
  kNotInitialized = 1,
  kAllocFailed = 2,
  kInvalidValue = 3,
  kExecutionFailed = 6,
  kInternalError = 7,
  kNotSupported = 10,
};

/// cusparsePointerMode_t.
enum class PointerMode : std::int32_t { kHost = 0, kDevice = 1 };
/// cusparseOperation_t.
enum class Operation : std::int32_t { kNone = 0, kTranspose = 1, kConjugateTranspose = 2 };
/// cusparseIndexType_t.
enum class IndexType : std::int32_t { k16U = 1, k32I = 2, k64I = 3 };
/// Taken and not looked at: orders, directions, algorithms, fill modes.
using Choice = std::int32_t;

inline constexpr int kVersionParts[] = {12, 7, 10};

}  // namespace unstarve::emulated::cusparse
