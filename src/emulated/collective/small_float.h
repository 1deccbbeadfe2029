#pragma once

#include <cstdint>

namespace unstarve::emulated {

/// A floating-point format of at most 16 bits: sign, exponent, mantissa.
struct SmallFloat {
  int exponent_bits = 0;
  int mantissa_bits = 0;
  /// The highest exponent means infinity and NaN, as IEEE has it. Otherwise only all bits set is
  /// NaN, and what is too large becomes that.
  bool has_infinity = true;
};

inline constexpr SmallFloat kFloat16{.exponent_bits = 5, .mantissa_bits = 10};
inline constexpr SmallFloat kBfloat16{.exponent_bits = 8, .mantissa_bits = 7};
inline constexpr SmallFloat kFloat8E5M2{.exponent_bits = 5, .mantissa_bits = 2};
inline constexpr SmallFloat kFloat8E4M3{
    .exponent_bits = 4, .mantissa_bits = 3, .has_infinity = false};

double decode(const SmallFloat& format, std::uint32_t bits);
/// The nearest number of the format, halves to even.
std::uint32_t encode(const SmallFloat& format, double value);

}  // namespace unstarve::emulated
