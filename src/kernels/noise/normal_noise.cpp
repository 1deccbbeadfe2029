#include "kernels/noise/normal_noise.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/noise/philox.h"

namespace unstarve::kernels {
namespace {

constexpr std::uint32_t kBlocks = kNoiseStretch / 4;
constexpr float kUnit = 0x1p-24F;

}  // namespace

void make_normal_plain(const NoiseKey& key, std::array<float, kNoiseStretch>& out) {
  NoiseKey at = key;
  for (std::size_t block = 0; block < kBlocks; ++block, ++at.counter[3]) {
    const std::array<std::uint32_t, 4> bits = philox(at.counter, at.seed);
    for (std::size_t i = 0; i < 2; ++i) {
      // Above zero, so that the logarithm is finite.
      const float share = static_cast<float>((bits[i] >> 8) + 1) * kUnit;
      const float radius = std::sqrt(-2.0F * std::log(share));
      const float turn = static_cast<float>(bits[2 + i] >> 8) * kUnit;
      const float angle = 2 * std::numbers::pi_v<float> * turn;
      out[2 * block + i] = radius * std::cos(angle);
      out[kNoiseStretch / 2 + 2 * block + i] = radius * std::sin(angle);
    }
  }
}

void add_noise(const NormalNoise& noise, const NoiseKey& key, float* values, std::size_t count) {
  NoiseKey at = key;
  std::array<float, kNoiseStretch> numbers;
  for (std::size_t first = 0; first < count; first += kNoiseStretch, at.counter[3] += kBlocks) {
    make_normal(at, numbers);
    const std::size_t now = std::min(kNoiseStretch, count - first);
    for (std::size_t i = 0; i < now; ++i) {
      // Rounded after each step, as torch's.
      values[first + i] += noise.mean + numbers[i] * noise.deviation;
    }
    if (!noise.clips) continue;
    for (std::size_t i = first; i < first + now; ++i) {
      values[i] = std::min(std::max(values[i], 0.0F), 1.0F);
    }
  }
}

}  // namespace unstarve::kernels
