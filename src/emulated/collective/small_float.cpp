#include "emulated/collective/small_float.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace unstarve::emulated {
namespace {

int bias(const SmallFloat& format) { return (1 << (format.exponent_bits - 1)) - 1; }

std::uint32_t highest_exponent(const SmallFloat& format) {
  return (1U << format.exponent_bits) - 1;
}

/// All bits but the sign.
std::uint32_t magnitude_mask(const SmallFloat& format) {
  return (1U << (format.exponent_bits + format.mantissa_bits)) - 1;
}

/// The first magnitude that is no number.
std::uint32_t overflow(const SmallFloat& format) {
  return format.has_infinity ? highest_exponent(format) << format.mantissa_bits
                             : magnitude_mask(format);
}

}  // namespace

double decode(const SmallFloat& format, std::uint32_t bits) {
  const std::uint32_t magnitude = bits & magnitude_mask(format);
  const double sign = (bits >> (format.exponent_bits + format.mantissa_bits) & 1U) != 0 ? -1 : 1;
  if (magnitude >= overflow(format)) {
    const bool infinite = format.has_infinity && magnitude == overflow(format);
    return infinite ? sign * std::numeric_limits<double>::infinity()
                    : std::numeric_limits<double>::quiet_NaN();
  }
  const std::uint32_t implicit_bit = 1U << format.mantissa_bits;
  const auto exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  const std::uint32_t mantissa = magnitude & (implicit_bit - 1);
  const int scale = 1 - bias(format) - format.mantissa_bits;
  if (exponent == 0) return sign * std::ldexp(mantissa, scale);
  return sign * std::ldexp(mantissa + implicit_bit, scale + exponent - 1);
}

std::uint32_t encode(const SmallFloat& format, double value) {
  const std::uint32_t sign =
      std::signbit(value) ? 1U << (format.exponent_bits + format.mantissa_bits) : 0U;
  if (std::isnan(value)) return sign | magnitude_mask(format);
  const double size = std::abs(value);
  if (size == 0) return sign;
  const int lowest = 1 - bias(format);
  if (std::isinf(value)) return sign | overflow(format);
  const int exponent = std::max(std::ilogb(size), lowest);
  // In units of the last place; 2^(mantissa_bits) and more has the implicit bit.
  const double units = std::nearbyint(std::ldexp(size, format.mantissa_bits - exponent));
  if (exponent > bias(format) + 1) return sign | overflow(format);
  const auto steps = static_cast<std::uint32_t>(exponent - lowest) << format.mantissa_bits;
  const std::uint32_t magnitude = steps + static_cast<std::uint32_t>(units);
  return sign | std::min(magnitude, overflow(format));
}

}  // namespace unstarve::emulated
