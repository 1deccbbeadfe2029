#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace unstarve::kernels {

/// Which sequence of numbers: the last word of the counter counts on, by one for four of them.
struct NoiseKey {
  std::uint64_t seed = 0;
  std::array<std::uint32_t, 4> counter = {};
};

/// Numbers are made in stretches of so many.
inline constexpr std::size_t kNoiseStretch = 512;

/// Standard normal numbers, by Philox and the transform of Box and Muller: the same on each CPU but
/// for their last bits. None is further than 5.8 from 0, as of torch's.
void make_normal(const NoiseKey& key, std::array<float, kNoiseStretch>& out);

/// The same, plainly: the reference for the SIMD code.
void make_normal_plain(const NoiseKey& key, std::array<float, kNoiseStretch>& out);

struct NormalNoise {
  float mean = 0;
  float deviation = 1;
  bool clips = true;  // to 0 .. 1 afterwards
};

/// Adds a number to each of `values`.
void add_noise(const NormalNoise& noise, const NoiseKey& key, float* values, std::size_t count);

}  // namespace unstarve::kernels
