#pragma once

#include <cstdint>

/// Factors between units of time, as fractions and (…Ns) as counts of nanoseconds.
namespace unstarve {

inline constexpr double kNsPerS = 1e9;
inline constexpr double kNsPerUs = 1e3;
inline constexpr double kSecondsPerNs = 1e-9;
inline constexpr double kMicrosecondsPerSecond = 1e6;
inline constexpr std::int64_t kSecondNs = 1'000'000'000;

}  // namespace unstarve
