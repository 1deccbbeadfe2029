#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "kernels/segment/segment_layout.h"

// What the plain packer and the SIMD one share. The bytes are those of docs/formats/shard.md.
namespace unstarve::kernels::segment {

/// The most bytes that one block can take, DC and head included.
inline constexpr std::size_t kBlockBytesMax = 2 + 2 + 9 + (63 * (2 + kMaxWidth)) / 8 + 1;
inline constexpr std::size_t kSegmentBytesMax =
    std::size_t{kMaxComponents} * (kMaxSegmentBlocks * kBlockBytesMax + kDcHeadBytes + 8) + 16;

/// Writes bits from low to high into a buffer that is known to be large enough, with 8 bytes to
/// spare.
class BitWriter {
 public:
  explicit BitWriter(std::byte* out) : out_(out) {}

  /// `value` has no bits but its lowest `count`, at most 63.
  void put(std::uint64_t value, int count) {
    if (count > 56) {
      put(value & 0xFFFF'FFFF, 32);
      value >>= 32;
      count -= 32;
    }
    pending_ |= value << filled_;
    filled_ += count;
    std::memcpy(out_, &pending_, sizeof(pending_));
    out_ += filled_ >> 3;
    pending_ >>= filled_ & ~7;
    filled_ &= 7;
  }
  /// Fills the last byte up and returns where the next one goes.
  std::byte* flush() {
    out_ += filled_ > 0 ? 1 : 0;
    pending_ = 0;
    filled_ = 0;
    return out_;
  }

 private:
  std::byte* out_;
  std::uint64_t pending_ = 0;
  int filled_ = 0;  // bits of `pending_`, below 8 between calls
};

inline int width_of(int value) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(value)));
}

/// How the largest magnitude of a band makes all of them be written.
inline int width_code(int largest) {
  if (largest < 2) return 0;
  const int width = width_of(largest - 2);
  return 1 + (largest > kMaxNarrowMagnitude ? std::max(width, kMaxNarrowWidth + 1) : width);
}

/// width_code() of magnitudes up to kMaxNarrowMagnitude, as a table: whether a band has any beyond
/// +-1 cannot be foreseen, so that a branch on it costs more than a look-up.
inline constexpr std::array<std::uint8_t, kMaxNarrowMagnitude + 1> kNarrowCodes = [] {
  std::array<std::uint8_t, kMaxNarrowMagnitude + 1> codes = {};
  for (int largest = 2; largest <= kMaxNarrowMagnitude; ++largest) {
    codes[std::size_t(largest)] =
        static_cast<std::uint8_t>(1 + std::bit_width(static_cast<unsigned>(largest - 2)));
  }
  return codes;
}();

/// How many bits a band's fields have: `code` less 1, but 0 for 0, and without a branch.
inline int field_width(int code) { return code - static_cast<int>(code != 0); }
/// `count`, or 0 where `code` is 0; without a branch.
inline int count_if(int code, int count) { return count & -static_cast<int>(code != 0); }

inline const std::int16_t* block_of(const SegmentPlane& plane, int index) {
  return plane.coefficients + (index / plane.columns) * plane.row_stride +
         (index % plane.columns) * kBlockCoefficients;
}

/// The DC values of `count` blocks; false when one is too large for the format.
template <class DcOfBlock>
bool pack_dc(int count, DcOfBlock dc_of, BitWriter& bits) {
  int smallest = kMaxDc;
  int largest = kMinDc;
  for (int index = 0; index < count; ++index) {
    const int dc = dc_of(index);
    smallest = std::min(smallest, dc);
    largest = std::max(largest, dc);
  }
  if (smallest < kMinDc || largest > kMaxDc) return false;
  const int width = width_of(largest - smallest);
  bits.put(static_cast<std::uint64_t>(smallest - kMinDc), 12);
  bits.put(static_cast<std::uint64_t>(width), 4);
  for (int index = 0; index < count; ++index) {
    bits.put(static_cast<std::uint64_t>(dc_of(index) - smallest), width);
  }
  bits.flush();
  return true;
}

inline bool pack_dc(const SegmentPlane& plane, BitWriter& bits) {
  const auto dc_of = [&](int index) { return int{block_of(plane, index)[0]}; };
  return pack_dc(plane.rows * plane.columns, dc_of, bits);
}

/// The lengths and widths of a block's AC parts, see BlockHead.
inline void put_head(std::byte* heads, int block, const BlockHead& head) {
  const int bits = head.mask_code | head.low_code << 4 | head.high_code << 8;
  std::byte* at = heads + block + (block >> 1);
  const int shift = 4 * (block & 1);
  at[0] = (shift == 0 ? std::byte{0} : at[0]) | static_cast<std::byte>(bits << shift & 0xFF);
  at[1] = static_cast<std::byte>(bits << shift >> 8);
}

/// `nonzero` has bit k set where zigzag position k is not zero; bit 0 is not looked at.
inline int mask_code(std::uint64_t nonzero) {
  return std::min((static_cast<int>(std::bit_width(nonzero >> 1)) + 3) / 4, kLongMask);
}

/// The masks, which lie backwards nibble by nibble from the segment's end, so that a reader that
/// starts there needs no further offset. They are collected first and written at the end, forwards:
/// writing backwards would read back words that have just been written in parts, which stalls.
class MaskWriter {
 public:
  void put(std::uint64_t nonzero, int code) {
    first_ = mask_start({code, 0, 0}, first_);
    masks_[count_] = {nonzero >> 1, static_cast<std::int32_t>(first_), code};
    ++count_;
  }
  /// Returns where the masks end.
  std::byte* copy_to(std::byte* out) const {
    BitWriter bits(out);
    std::ptrdiff_t at = first_ & ~std::ptrdiff_t{1};  // the first byte is whole
    for (std::size_t i = count_; i > 0; --i) {
      const Mask& mask = masks_[i - 1];
      const int nibbles = mask.code == kLongMask ? 16 : mask.code;
      bits.put(0, static_cast<int>(4 * (mask.first - at)));
      bits.put(mask.bits, std::min(4 * nibbles, 63));
      bits.put(0, nibbles == 16 ? 1 : 0);
      at = mask.first + nibbles;
    }
    bits.put(0, static_cast<int>(-4 * at));
    return bits.flush();
  }

 private:
  struct Mask {
    std::uint64_t bits;
    std::int32_t first;  // nibble, counted from the segment's end
    std::int32_t code;
  };
  std::array<Mask, kMaxComponents * kMaxSegmentBlocks> masks_;
  std::size_t count_ = 0;
  std::ptrdiff_t first_ = 0;
};

}  // namespace unstarve::kernels::segment
