#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace unstarve::feed {

enum class LzwKind {
  kGif,   // a code's lowest bits come first; where no code is free, the strings stay as they are
  kTiff,  // its highest bits come first, and it grows one code sooner; the first one clears
};

/// Unpacks values of one byte. Thread rule: one thread at a time.
class LzwUnpacker {
 public:
  /// The first `count` values, below 2^32, valid until the next call. `value_bits`: 2 to 8, of a
  /// value. Codes that come after the last value are passed over.
  /// Errors: kCorruptData where the codes are damaged or stand for fewer values; before memory is
  /// taken where they cannot be as many.
  Result<std::span<const std::uint8_t>> unpack(std::span<const std::byte> codes, LzwKind kind,
                                               int value_bits, std::size_t count);

 private:
  /// What a code stands for lies in what has been unpacked, where it came up first.
  struct String {
    std::uint32_t begin = 0;
    std::uint32_t length = 0;
  };
  static constexpr int kMostBits = 12;
  static constexpr std::size_t kMostCodes = std::size_t{1} << kMostBits;

  template <LzwKind kKind>
  Status fill(std::span<const std::byte> codes, int value_bits, std::size_t count);

  std::vector<std::uint8_t> out_;  // with padding
  std::array<String, kMostCodes> strings_;
};

}  // namespace unstarve::feed
