#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "kernels/segment/segment_layout.h"

// What the plain packer and the SIMD one share. The bytes are those of
// docs/formats/coefficients.md.
namespace unstarve::kernels::segment {

/// The most bytes that one block's signs and magnitudes can take.
inline constexpr std::size_t kBlockBitsBytes = (63 * (2 + kMaxWidth)) / 8 + 1;
/// The most bytes that one block can take, DC and head included.
inline constexpr std::size_t kBlockBytesMax = 2 + 2 + 9 + kBlockBitsBytes;
inline constexpr std::size_t kSegmentBytesMax =
    std::size_t{kMaxComponents} * (kMaxSegmentBlocks * kBlockBytesMax + kDcHeadBytes + 8) + 16;

inline int width_of(int value) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(value)));
}

/// How the largest magnitude of a band makes all of them be written.
inline int width_code(int largest) {
  if (largest < 2) return 0;
  const int width = width_of(largest - 2);
  return 1 + (largest > kMaxNarrowMagnitude ? std::max(width, kMaxNarrowWidth + 1) : width);
}

/// How many bits a band's fields have: `code` less 1, but 0 for 0, and without a branch.
inline int field_width(int code) { return code - static_cast<int>(code != 0); }
/// `count`, or 0 where `code` is 0; without a branch.
inline int count_if(int code, int count) { return count & -static_cast<int>(code != 0); }

/// The 12 bits of a head.
inline unsigned head_of(const BlockHead& head) {
  return static_cast<unsigned>(head.mask_code | head.low_code << 4 | head.high_code << 8);
}

/// `nonzero` has bit k set where zigzag position k is not zero; bit 0 is not looked at.
inline int mask_code(std::uint64_t nonzero) {
  return std::min((static_cast<int>(std::bit_width(nonzero >> 1)) + 3) / 4, kLongMask);
}

}  // namespace unstarve::kernels::segment
