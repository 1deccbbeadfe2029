#pragma once

#include <array>
#include <cstdint>

namespace unstarve::kernels {

inline constexpr std::array<std::uint32_t, 2> kPhiloxMultipliers = {0xD2511F53, 0xCD9E8D57};
inline constexpr std::array<std::uint32_t, 2> kPhiloxWeyl = {0x9E3779B9, 0xBB67AE85};
inline constexpr int kPhiloxRounds = 10;

/// Philox4x32-10 (Salmon et al., SC'11): random bits as a function of a key and a counter, so that
/// a sample's draws depend on nothing that was drawn before.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::uint64_t key);

}  // namespace unstarve::kernels
