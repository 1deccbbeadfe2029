#pragma once

#include <cstdint>

#include "emulated/duration/work.h"

/// The types of numbers as the math libraries name them.
namespace unstarve::emulated {

/// cudaDataType: library_types.h.
enum class DataType : std::int32_t {
  kR32F = 0,
  kR64F = 1,
  kR16F = 2,
  kR8I = 3,
  kC32F = 4,
  kC64F = 5,
  kC16F = 6,
  kC8I = 7,
  kR8U = 8,
  kC8U = 9,
  kR32I = 10,
  kC32I = 11,
  kR32U = 12,
  kC32U = 13,
  kR16Bf = 14,
  kC16Bf = 15,
  kR64I = 24,
  kR64U = 26,
  kR8FE4M3 = 28,
  kR8FE5M2 = 29,
  kR8FUE8M0 = 30,
  kR6FE2M3 = 31,
  kR6FE3M2 = 32,
  kR4FE2M1 = 33,
};

/// libraryPropertyType_t.
enum class LibraryProperty : std::int32_t { kMajor = 0, kMinor = 1, kPatch = 2 };

/// The type whose rate and size come closest; numbers of four and six bits count as eight.
inline NumberType number_type(DataType type) {
  switch (type) {
    case DataType::kR64F: return NumberType::kF64;
    case DataType::kR16F: return NumberType::kF16;
    case DataType::kR16Bf: return NumberType::kBf16;
    case DataType::kR8I:
    case DataType::kR8U: return NumberType::kI8;
    case DataType::kC32F:
    case DataType::kC16F:
    case DataType::kC16Bf: return NumberType::kC64;
    case DataType::kC64F: return NumberType::kC128;
    case DataType::kR32I:
    case DataType::kR32U: return NumberType::kI32;
    case DataType::kR64I:
    case DataType::kR64U: return NumberType::kI64;
    case DataType::kR8FE4M3:
    case DataType::kR8FE5M2:
    case DataType::kR8FUE8M0:
    case DataType::kR6FE2M3:
    case DataType::kR6FE3M2:
    case DataType::kR4FE2M1: return NumberType::kF8;
    default: return NumberType::kF32;
  }
}

inline bool is_complex(NumberType type) {
  return type == NumberType::kC64 || type == NumberType::kC128;
}

/// Multiplications and additions of real numbers that one of this type takes: 1, or 4.
inline double real_operations(NumberType type) { return is_complex(type) ? 4 : 1; }

/// Whether numbers of this type are multiplied by the tensor cores whatever the mode says.
inline bool of_tensor_cores(NumberType type) {
  return type == NumberType::kF16 || type == NumberType::kBf16 || type == NumberType::kF8 ||
         type == NumberType::kI8;
}

/// What BLAS's letters stand for.
inline constexpr NumberType kTypeOfS = NumberType::kF32;
inline constexpr NumberType kTypeOfD = NumberType::kF64;
inline constexpr NumberType kTypeOfC = NumberType::kC64;
inline constexpr NumberType kTypeOfZ = NumberType::kC128;

}  // namespace unstarve::emulated
