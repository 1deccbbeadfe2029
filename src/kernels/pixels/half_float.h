#pragma once

#include <bit>
#include <cstdint>

namespace unstarve::kernels {

/// The nearest bfloat16, halves to even. `value` must be a number.
constexpr std::uint16_t to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

/// The nearest IEEE half, halves to even; too large becomes infinity. `value` must be a number.
constexpr std::uint16_t to_float16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000);
  const std::uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude >= 0x47800000) return static_cast<std::uint16_t>(sign | 0x7C00);
  if (magnitude < 0x38800000) {
    // Adding 0.5 leaves a subnormal half in the lowest bits, rounded by the addition itself.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3F000000));
  }
  const std::uint32_t rounded = magnitude + 0xFFF + ((magnitude >> 13) & 1) - 0x38000000;
  return static_cast<std::uint16_t>(sign | (rounded >> 13));
}

}  // namespace unstarve::kernels
