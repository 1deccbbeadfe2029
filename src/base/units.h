#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace unstarve {

// Factors between units of time, as fractions and (...Ns) as counts of nanoseconds.

inline constexpr double kNsPerS = 1e9;
inline constexpr double kNsPerUs = 1e3;
inline constexpr double kSecondsPerNs = 1e-9;
inline constexpr double kMicrosecondsPerSecond = 1e6;
inline constexpr double kSecondsPerHour = 3600;
inline constexpr std::int64_t kSecondNs = 1'000'000'000;

/// The whole number that is nearest to one that a file says, of which nobody knows how large it
/// is: beyond the type it is the type's edge, and of what is no number 0. A cast would be undefined
/// there, and std::llround() says anything.
template <class Integer>
Integer whole_number(double value) {
  using Limits = std::numeric_limits<Integer>;
  if (std::isnan(value)) return 0;
  const double rounded = std::round(value);
  // 2^digits, the first that does not fit: the largest that fits is no double in 64 bits.
  if (rounded >= std::ldexp(1.0, Limits::digits)) return Limits::max();
  if (rounded <= static_cast<double>(Limits::min())) return Limits::min();
  return static_cast<Integer>(rounded);
}

}  // namespace unstarve
