#pragma once

#include <array>
#include <cstdint>

#include "kernels/noise/normal_noise.h"
#include "kernels/noise/philox.h"

namespace unstarve::feed {

using kernels::philox;

/// Which sequence of draws: every field is part of the counter, the seed is the key.
struct DrawKey {
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;
  std::uint32_t index = 0;    // of the sample in the data set
  std::uint32_t attempt = 0;  // 0, then 1, 2, ... for the replacements of a broken sample
};

/// In DrawKey::attempt, how often an index was there before in its epoch lies above the attempts.
inline constexpr std::uint32_t kRepeatShift = 5;

/// The draws of one sample, in order.
class SampleRandom {
 public:
  explicit SampleRandom(const DrawKey& key) : key_(key) {}
  /// Evenly from [0, 1), 53 bits.
  double uniform();
  /// Evenly from [low, high).
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Evenly from 0 .. bound - 1; bound must be above zero.
  std::uint32_t below(std::uint32_t bound);
  /// Of a sequence beside the others.
  kernels::NoiseKey noise_key() const;

 private:
  std::uint64_t next64();

  DrawKey key_;
  std::uint32_t block_ = 0;
  int left_ = 0;  // 64-bit halves not handed out yet
  std::array<std::uint32_t, 4> bits_ = {};
};

/// The sample that takes the place of a broken one.
std::uint32_t replacement_index(const DrawKey& key, std::uint32_t count);

}  // namespace unstarve::feed
