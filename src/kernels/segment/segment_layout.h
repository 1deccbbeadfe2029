#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "kernels/segment/segment.h"

// The parts of a packed segment, shared by the packer, the plain reference and the SIMD paths.
// docs/formats/coefficients.md describes the bytes. All of it assumes a little-endian machine.
static_assert(std::endian::native == std::endian::little);

namespace unstarve::kernels::segment {

/// kNaturalOrder[k] is where the k-th coefficient of the zigzag lies in a row-major block.
inline constexpr std::array<std::uint8_t, kBlockCoefficients> kNaturalOrder = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

inline constexpr int kLowEnd = 16;          // zigzag positions 1..15 have a bit width of their own
inline constexpr int kMaxWidth = 10;        // bits of a magnitude less 2
inline constexpr int kMaxMagnitude = 1023;  // the most that 8-bit samples lead to
inline constexpr int kMaxNarrowWidth = 7;   // up to here magnitudes fit into a signed byte:
inline constexpr int kMaxNarrowMagnitude = 127;  // larger ones take at least 8 bits
inline constexpr int kMinDc = -1024;
inline constexpr int kMaxDc = 1023;
inline constexpr int kMaxDcWidth = 11;  // bits of a DC value less the smallest of its component
inline constexpr int kDcHeadBytes = 2;  // smallest DC:12, width:4

template <class T>
T load(const std::uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

/// A block's 12 bits: how long its mask is, and how its magnitudes are written.
struct BlockHead {
  int mask_code = 0;  // nibbles of the mask; 15 stands for 16, which start at a whole byte
  int low_code = 0;   // of positions below kLowEnd: 0 when none is beyond +-1, or 1 + the width
  int high_code = 0;  // the same of the others
};

inline constexpr int kLongMask = 15;
inline constexpr int kMaxWidthCode = 1 + kMaxWidth;

/// The 12 bits of BlockHead as they lie in the segment, mask_code lowest.
inline unsigned head_bits(const std::uint8_t* heads, int block) {
  return static_cast<unsigned>(load<std::uint16_t>(heads + block + (block >> 1))) >>
         (4 * (block & 1));
}

inline BlockHead block_head(const std::uint8_t* heads, int block) {
  const int bits = static_cast<int>(head_bits(heads, block));
  return {bits & 15, (bits >> 4) & 15, (bits >> 8) & 15};
}

/// The nibble of the segment that the mask starts with which lies before nibble `end`.
inline std::ptrdiff_t mask_start(const BlockHead& head, std::ptrdiff_t end) {
  return head.mask_code == kLongMask ? (end - 16) & ~std::ptrdiff_t{1} : end - head.mask_code;
}

inline int heads_size(int blocks) { return (blocks * 3 + 1) / 2; }
inline int dc_bytes(int blocks, int width) { return (blocks * width + 7) / 8; }

/// The DC values of one component.
struct DcValues {
  const std::uint8_t* bits = nullptr;
  int smallest = 0;
  int width = 0;

  int operator[](int block) const {
    const int position = block * width;
    const std::uint32_t word = load<std::uint32_t>(bits + (position >> 3)) >> (position & 7);
    return smallest + static_cast<int>(word & ((1U << width) - 1U));
  }
};

/// Where the sections of a segment lie.
struct Sections {
  std::array<DcValues, kMaxComponents> dc;
  const std::uint8_t* heads = nullptr;
  const std::uint8_t* bits = nullptr;  // forwards from here
  const std::uint8_t* end = nullptr;   // masks lie backwards from here, nibble by nibble
};

/// False when the fixed parts do not fit into the segment.
inline bool find_sections(std::span<const std::byte> bytes, std::span<const SegmentPlane> planes,
                          Sections& sections) {
  const auto* at = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const std::uint8_t* end = at + bytes.size();
  int blocks = 0;
  for (std::size_t component = 0; component < planes.size(); ++component) {
    if (end - at < kDcHeadBytes) return false;
    const auto head = load<std::uint16_t>(at);
    DcValues& dc = sections.dc[component];
    dc.smallest = kMinDc + (head & 0xFFF);
    dc.width = head >> 12;
    dc.bits = at + kDcHeadBytes;
    const int count = planes[component].columns * planes[component].rows;
    const int size = kDcHeadBytes + dc_bytes(count, dc.width);
    if (dc.width > kMaxDcWidth || end - at < size) return false;
    at += size;
    blocks += count;
  }
  if (end - at < heads_size(blocks)) return false;
  sections.heads = at;
  sections.bits = at + heads_size(blocks);
  sections.end = end;
  return true;
}

}  // namespace unstarve::kernels::segment
