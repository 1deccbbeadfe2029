#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace unstarve::feed {

/// A shuffled order of 0 .. count - 1 that depends on (seed, epoch) alone, as a function: any place
/// of it is computed on its own, in some tens of nanoseconds, so that an epoch of any length starts
/// at once and takes no memory.
///
/// A Feistel network on two digits: a number below a * b is (left, right); each round adds to one
/// digit a keyed hash of the other, modulo that digit's base, which can be undone and is therefore
/// a permutation of 0 .. a * b - 1. With a and b near the root of `count`, at most about
/// sqrt(count) numbers lie outside; those are sent through again until they fall inside (Black and
/// Rogaway, "Ciphers with Arbitrary Finite Domains", 2002).
class IndexPermutation {
 public:
  /// `count` is at least 1.
  IndexPermutation(std::uint32_t count, std::uint64_t seed, std::uint32_t epoch);
  /// `position` is below count.
  std::uint32_t operator()(std::uint32_t position) const;

 private:
  // Sets of a handful take more rounds until every order of them is equally likely.
  static constexpr std::size_t kRounds = 10;
  static constexpr std::size_t kRoundsOfSmall = 24;
  static constexpr std::uint32_t kSmall = 1U << 16;
  struct RoundKey {
    std::uint64_t add = 0;
    std::uint64_t multiply = 0;
  };

  std::uint32_t count_;
  std::uint32_t left_base_;
  std::uint32_t right_base_;
  std::size_t rounds_;
  std::array<RoundKey, kRoundsOfSmall> keys_ = {};
};

}  // namespace unstarve::feed
