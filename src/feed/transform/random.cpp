#include "feed/transform/random.h"

namespace unstarve::feed {
namespace {

// The top bits of the counter's last word keep the uses apart.
constexpr std::uint32_t kNoiseUse = 1U << 30;
constexpr std::uint32_t kReplacementUse = 2U << 30;

std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }

std::uint64_t join(std::uint32_t upper, std::uint32_t lower) {
  return (std::uint64_t{upper} << 32) | lower;
}

/// Maps 32 random bits evenly onto 0 .. bound - 1; the bias is below bound / 2^32.
std::uint32_t scale_to(std::uint32_t bits, std::uint32_t bound) {
  return high(std::uint64_t{bits} * bound);
}

}  // namespace

std::uint64_t SampleRandom::next64() {
  if (left_ == 0) {
    bits_ = philox({key_.index, key_.epoch, key_.attempt, block_++}, key_.seed);
    left_ = 2;
  }
  --left_;
  return left_ == 1 ? join(bits_[0], bits_[1]) : join(bits_[2], bits_[3]);
}

double SampleRandom::uniform() { return static_cast<double>(next64() >> 11) * 0x1p-53; }

std::uint32_t SampleRandom::below(std::uint32_t bound) { return scale_to(high(next64()), bound); }

kernels::NoiseKey SampleRandom::noise_key() const {
  return {key_.seed, {key_.index, key_.epoch, key_.attempt, kNoiseUse}};
}

std::uint32_t replacement_index(const DrawKey& key, std::uint32_t count) {
  return scale_to(philox({key.index, key.epoch, key.attempt, kReplacementUse}, key.seed)[0], count);
}

}  // namespace unstarve::feed
