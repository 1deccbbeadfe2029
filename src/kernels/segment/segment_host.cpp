// Packing, and the plain reference of unpacking.
#include <algorithm>
#include <cstdlib>

#include "kernels/segment/bit_writer.h"
#include "kernels/segment/segment_pack.h"

namespace unstarve::kernels {
namespace {

using segment::BlockHead;
using segment::kNaturalOrder;

/// A block's AC coefficients that are not zero, in zigzag order.
struct PlainBlock {
  std::uint64_t mask = 0;      // bit k: position k is not zero
  std::uint64_t negative = 0;  // bit i: the i-th of them is
  std::uint64_t large = 0;     // bit i: the i-th of them is beyond +-1
  int count = 0;
  int low_count = 0;  // of them below segment::kLowEnd
  int low_code = 0;
  int high_code = 0;
  std::array<std::int16_t, kBlockCoefficients> magnitudes;
};

/// False when a magnitude is too large for the format.
bool read_block(const std::int16_t* block, PlainBlock& sparse) {
  std::uint64_t mask = 0;
  std::uint64_t negative = 0;
  std::uint64_t large = 0;
  int count = 0;
  for (int position = 1; position < kBlockCoefficients; ++position) {
    const int value = block[kNaturalOrder[std::size_t(position)]];
    const int magnitude = std::abs(value);
    sparse.magnitudes[std::size_t(count)] = static_cast<std::int16_t>(std::min(magnitude, 32767));
    mask |= std::uint64_t{value != 0} << position;
    negative |= std::uint64_t{value < 0} << count;
    large |= std::uint64_t{magnitude > 1} << count;
    count += value != 0 ? 1 : 0;
  }
  sparse.mask = mask;
  sparse.negative = negative;
  sparse.large = large;
  sparse.count = count;
  sparse.low_count = std::popcount(mask & ((1U << segment::kLowEnd) - 1U));
  const auto largest = [&](int first, int end) {
    int result = 0;
    for (int i = first; i < end; ++i) {
      result = std::max(result, int{sparse.magnitudes[std::size_t(i)]});
    }
    return result;
  };
  const int low = largest(0, sparse.low_count);
  const int high = largest(sparse.low_count, count);
  sparse.low_code = segment::width_code(low);
  sparse.high_code = segment::width_code(high);
  return std::max(low, high) <= segment::kMaxMagnitude;
}

void pack_bits(const PlainBlock& sparse, segment::BitWriter& bits) {
  bits.put(sparse.negative, sparse.count);
  const int low_end = sparse.low_count;
  if (sparse.low_code > 0) bits.put(sparse.large & ((std::uint64_t{1} << low_end) - 1), low_end);
  if (sparse.high_code > 0) bits.put(sparse.large >> low_end, sparse.count - low_end);
  for (std::uint64_t rest = sparse.large; rest != 0; rest &= rest - 1) {
    const int index = std::countr_zero(rest);
    bits.put(static_cast<std::uint64_t>(sparse.magnitudes[std::size_t(index)] - 2),
             (index < low_end ? sparse.low_code : sparse.high_code) - 1);
  }
}

const std::int16_t* block_of(const SegmentPlane& plane, int index) {
  return plane.coefficients + (index / plane.columns) * plane.row_stride +
         (index % plane.columns) * kBlockCoefficients;
}

/// False when a DC value is too large for the format.
bool pack_dc(const SegmentPlane& plane, segment::BitWriter& bits) {
  const int count = plane.rows * plane.columns;
  int smallest = segment::kMaxDc;
  int largest = segment::kMinDc;
  for (int index = 0; index < count; ++index) {
    const int dc = block_of(plane, index)[0];
    smallest = std::min(smallest, dc);
    largest = std::max(largest, dc);
  }
  if (smallest < segment::kMinDc || largest > segment::kMaxDc) return false;
  const int width = segment::width_of(largest - smallest);
  bits.put(static_cast<std::uint64_t>(smallest - segment::kMinDc), 12);
  bits.put(static_cast<std::uint64_t>(width), 4);
  for (int index = 0; index < count; ++index) {
    bits.put(static_cast<std::uint64_t>(block_of(plane, index)[0] - smallest), width);
  }
  bits.flush();
  return true;
}

/// The lengths and widths of a block's AC parts, see BlockHead.
void put_head(std::byte* heads, int block, const BlockHead& head) {
  const unsigned bits = segment::head_of(head);
  std::byte* at = heads + block + (block >> 1);
  const int shift = 4 * (block & 1);
  at[0] = (shift == 0 ? std::byte{0} : at[0]) | static_cast<std::byte>(bits << shift & 0xFF);
  at[1] = static_cast<std::byte>(bits << shift >> 8);
}

/// The masks, which lie backwards nibble by nibble from the segment's end, so that a reader that
/// starts there needs no further offset. They are collected first and written at the end, forwards.
class MaskWriter {
 public:
  void put(std::uint64_t nonzero, int code) {
    first_ = segment::mask_start({code, 0, 0}, first_);
    masks_[count_] = {nonzero >> 1, static_cast<std::int32_t>(first_), code};
    ++count_;
  }
  /// Returns where the masks end.
  std::byte* copy_to(std::byte* out) const {
    segment::BitWriter bits(out);
    std::ptrdiff_t at = first_ & ~std::ptrdiff_t{1};  // the first byte is whole
    for (std::size_t i = count_; i > 0; --i) {
      const Mask& mask = masks_[i - 1];
      const int nibbles = mask.code == segment::kLongMask ? 16 : mask.code;
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

/// Writes everything but the DC values, from `out` on; null when a magnitude is too large.
std::byte* pack_ac(std::span<const SegmentPlane> planes, int blocks, std::byte* out) {
  MaskWriter masks;
  segment::BitWriter bits(out + segment::heads_size(blocks));
  PlainBlock sparse;
  int block = 0;
  for (const SegmentPlane& plane : planes) {
    for (int index = 0; index < plane.rows * plane.columns; ++index) {
      if (!read_block(block_of(plane, index), sparse)) return nullptr;
      const int mask_code = segment::mask_code(sparse.mask);
      put_head(out, block++, {mask_code, sparse.low_code, sparse.high_code});
      pack_bits(sparse, bits);
      masks.put(sparse.mask, mask_code);
    }
  }
  return masks.copy_to(bits.flush());
}

/// Bits from low to high, bytes in order; never reads past `end`, a number of bits.
class BitReader {
 public:
  BitReader(const std::uint8_t* first, std::ptrdiff_t end) : first_(first), end_(end) {}

  std::uint64_t take(int count) {
    if (count > end_ - position_) {
      ran_out_ = true;
      return 0;
    }
    std::uint64_t value = 0;
    for (int bit = 0; bit < count; ++bit, ++position_) {
      value |= (std::uint64_t{first_[position_ >> 3]} >> (position_ & 7) & 1) << bit;
    }
    return value;
  }
  void end_at(std::ptrdiff_t end) { end_ = end; }
  bool ran_out() const { return ran_out_ || position_ > end_; }

 private:
  const std::uint8_t* first_;
  std::ptrdiff_t position_ = 0;
  std::ptrdiff_t end_;
  bool ran_out_ = false;
};

/// Bit k stands for zigzag position k.
std::uint64_t read_mask(const std::uint8_t* first, std::ptrdiff_t nibble, std::ptrdiff_t end) {
  std::uint64_t mask = 0;
  for (int shift = 1; nibble < end && shift < 64; ++nibble, shift += 4) {
    mask |= (std::uint64_t{first[nibble >> 1]} >> (4 * (nibble & 1)) & 15) << shift;
  }
  return mask;
}

bool unpack_block(BitReader& bits, const BlockHead& head, std::uint64_t mask, std::int16_t* out) {
  std::fill_n(out, kBlockCoefficients, std::int16_t{0});
  const auto code_of = [&](int position) {
    return position < segment::kLowEnd ? head.low_code : head.high_code;
  };
  std::array<int, kBlockCoefficients> sign = {};
  std::array<int, kBlockCoefficients> magnitude = {};
  const auto is_set = [&](int position) { return (mask >> position & 1) != 0; };
  for (int position = 1; position < kBlockCoefficients; ++position) {
    if (is_set(position)) sign[std::size_t(position)] = bits.take(1) != 0 ? -1 : 1;
  }
  for (int position = 1; position < kBlockCoefficients; ++position) {
    if (!is_set(position)) continue;
    const bool is_large = code_of(position) > 0 && bits.take(1) != 0;
    magnitude[std::size_t(position)] = is_large ? 2 : 1;
  }
  for (int position = 1; position < kBlockCoefficients; ++position) {
    int& value = magnitude[std::size_t(position)];
    if (value == 2) value += static_cast<int>(bits.take(code_of(position) - 1));
    out[kNaturalOrder[std::size_t(position)]] =
        static_cast<std::int16_t>(sign[std::size_t(position)] * value);
  }
  return !bits.ran_out();
}

}  // namespace

bool pack_segment_plain(std::span<const SegmentPlane> planes, std::vector<std::byte>& out) {
  // Not in `out` itself: growing it by the most that a segment can take would clear all of that.
  std::array<std::byte, segment::kSegmentBytesMax> packed;
  segment::BitWriter dc(packed.data());
  int blocks = 0;
  for (const SegmentPlane& plane : planes) {
    if (!pack_dc(plane, dc)) return false;
    blocks += plane.rows * plane.columns;
  }
  const std::byte* end = pack_ac(planes, blocks, dc.flush());
  if (end == nullptr) return false;
  const std::byte* begin = packed.data();
  out.insert(out.end(), begin, end);
  return true;
}

bool unpack_segment_plain(std::span<const std::byte> bytes, std::span<const SegmentPlane> planes) {
  segment::Sections sections;
  if (!segment::find_sections(bytes, planes, sections)) return false;
  std::ptrdiff_t mask_end = 2 * (sections.end - sections.bits);  // nibbles from sections.bits
  BitReader bits(sections.bits, 4 * mask_end);
  int block = 0;
  for (std::size_t component = 0; component < planes.size(); ++component) {
    const SegmentPlane& plane = planes[component];
    for (int index = 0; index < plane.rows * plane.columns; ++index, ++block) {
      const BlockHead head = segment::block_head(sections.heads, block);
      if (std::max(head.low_code, head.high_code) > segment::kMaxWidthCode) return false;
      const std::ptrdiff_t mask_first = segment::mask_start(head, mask_end);
      if (mask_first < 0) return false;
      bits.end_at(4 * mask_first);
      const std::uint64_t mask = read_mask(sections.bits, mask_first, mask_end);
      mask_end = mask_first;
      std::int16_t* out = plane.coefficients + (index / plane.columns) * plane.row_stride +
                          (index % plane.columns) * kBlockCoefficients;
      if (!unpack_block(bits, head, mask, out)) return false;
      out[0] = static_cast<std::int16_t>(sections.dc[component][index]);
    }
  }
  return true;
}

}  // namespace unstarve::kernels
