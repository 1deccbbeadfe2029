#include <algorithm>

#include "kernels/jpeg/segment_layout.h"

namespace unstarve::kernels {
namespace {

using segment::BlockHead;
using segment::kNaturalOrder;

/// Bits from low to high, bytes in order; never reads past `end`.
class BitReader {
 public:
  BitReader(const std::uint8_t* first, const std::uint8_t* end) : at_(first), end_(end) {}

  std::uint64_t take(int count) {
    std::uint64_t value = 0;
    for (int bit = 0; bit < count; ++bit) {
      if (at_ == end_) {
        ran_out_ = true;
        return 0;
      }
      value |= std::uint64_t{static_cast<unsigned>(*at_ >> shift_) & 1U} << bit;
      if (++shift_ == 8) {
        shift_ = 0;
        ++at_;
      }
    }
    return value;
  }
  void end_at(const std::uint8_t* end) { end_ = end; }
  bool ran_out() const { return ran_out_; }
  /// The first byte that no bit was taken of.
  const std::uint8_t* next_byte() const { return at_ + (shift_ > 0 ? 1 : 0); }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
  int shift_ = 0;
  bool ran_out_ = false;
};

std::uint64_t read_mask(const std::uint8_t* first, int bytes) {
  std::uint64_t mask = 0;
  for (int i = 0; i < bytes; ++i) mask |= std::uint64_t{first[i]} << (8 * i);
  return mask;
}

/// `mask` has bit k for zigzag position k.
bool unpack_block(BitReader& bits, const BlockHead& head, std::uint64_t mask, std::int16_t* out) {
  const int count = std::popcount(mask);
  const std::uint64_t negative = bits.take(count);
  const std::uint64_t large = bits.take(count);
  std::fill_n(out, kBlockCoefficients, std::int16_t{0});
  int index = 0;
  for (int position = 1; position < kBlockCoefficients; ++position) {
    if ((mask >> position & 1) == 0) continue;
    int value = 1;
    if ((large >> index & 1) != 0) {
      value = 2 + static_cast<int>(
                      bits.take(position < segment::kLowEnd ? head.low_width : head.high_width));
    }
    if ((negative >> index & 1) != 0) value = -value;
    out[kNaturalOrder[static_cast<std::size_t>(position)]] = static_cast<std::int16_t>(value);
    ++index;
  }
  return !bits.ran_out();
}

}  // namespace

bool unpack_segment_plain(std::span<const std::byte> bytes, std::span<const SegmentPlane> planes) {
  segment::Parts parts;
  if (!segment::find_parts(bytes, planes, parts)) return false;
  const std::uint8_t* masks = parts.mask_end;
  BitReader bits(parts.bits, masks);
  int block = 0;
  for (std::size_t component = 0; component < planes.size(); ++component) {
    const SegmentPlane& plane = planes[component];
    for (int index = 0; index < plane.rows * plane.columns; ++index, ++block) {
      const BlockHead head = segment::block_head(parts.heads, block);
      if (head.mask_bytes > segment::kMaxMaskBytes || head.low_width > segment::kMaxWidth ||
          head.high_width > segment::kMaxWidth) {
        return false;
      }
      if (masks - bits.next_byte() < head.mask_bytes) return false;
      masks -= head.mask_bytes;
      bits.end_at(masks);
      std::int16_t* out = plane.coefficients + (index / plane.columns) * plane.row_stride +
                          (index % plane.columns) * kBlockCoefficients;
      // Bit 0 stands for position 1; a 64th position does not exist.
      const std::uint64_t mask = read_mask(masks, head.mask_bytes) << 1;
      if (!unpack_block(bits, head, mask, out)) return false;
      out[0] = static_cast<std::int16_t>(parts.dc[component][index]);
    }
  }
  return true;
}

}  // namespace unstarve::kernels
