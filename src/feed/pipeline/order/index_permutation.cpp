#include "feed/pipeline/order/index_permutation.h"

#include <cmath>

#include "feed/transform/random.h"

namespace unstarve::feed {
namespace {

// The top bits of the counter's last word keep this use of the generator apart from the others.
constexpr std::uint32_t kOrderUse = 1U << 30;

/// The smallest number whose square is at least `count`.
std::uint32_t root_up(std::uint32_t count) {
  auto root = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(count)));
  while (root * root < count) ++root;
  return static_cast<std::uint32_t>(root);
}

/// Evenly onto 0 .. base - 1, as far as a 32-bit hash goes.
std::uint32_t hash_below(std::uint32_t digit, std::uint64_t add, std::uint64_t multiply,
                         std::uint32_t base) {
  std::uint64_t mixed = (digit + add) * multiply;
  mixed = (mixed ^ (mixed >> 32)) * 0x9E3779B97F4A7C15ULL;  // 2^64 / golden ratio
  mixed ^= mixed >> 29;
  return static_cast<std::uint32_t>(((mixed * multiply) >> 32) * base >> 32);
}

std::uint32_t add_modulo(std::uint32_t digit, std::uint32_t other, std::uint32_t base) {
  const std::uint32_t sum = digit + other;  // both below base <= 2^16
  return sum >= base ? sum - base : sum;
}

}  // namespace

IndexPermutation::IndexPermutation(std::uint32_t count, std::uint64_t seed, std::uint32_t epoch)
    : count_(count),
      left_base_(root_up(count)),
      right_base_((count - 1) / left_base_ + 1),
      rounds_(count < kSmall ? kRoundsOfSmall : kRounds) {
  for (std::uint32_t round = 0; round < rounds_; ++round) {
    const std::array<std::uint32_t, 4> bits = philox({round, epoch, 0, kOrderUse}, seed);
    RoundKey& key = keys_[round];
    key.add = (std::uint64_t{bits[0]} << 32) | bits[1];
    key.multiply = (std::uint64_t{bits[2]} << 32) | bits[3] | 1;  // odd: loses nothing
  }
}

std::uint32_t IndexPermutation::operator()(std::uint32_t position) const {
  do {
    std::uint32_t left = position / right_base_;
    std::uint32_t right = position % right_base_;
    for (std::size_t round = 0; round < rounds_; round += 2) {
      const RoundKey& first = keys_[round];
      const RoundKey& second = keys_[round + 1];
      left = add_modulo(left, hash_below(right, first.add, first.multiply, left_base_), left_base_);
      right = add_modulo(right, hash_below(left, second.add, second.multiply, right_base_),
                         right_base_);
    }
    position = left * right_base_ + right;
  } while (position >= count_);
  return position;
}

}  // namespace unstarve::feed
