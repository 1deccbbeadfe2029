#include <algorithm>
#include <cstdlib>

#include "kernels/jpeg/segment_layout.h"

namespace unstarve::kernels {
namespace {

using segment::kNaturalOrder;

/// The most bytes that one block can take, DC and head included.
constexpr std::size_t kBlockBytesMax =
    2 + 2 + segment::kMaxMaskBytes + (63 * (2 + segment::kMaxWidth)) / 8 + 1;
constexpr std::size_t kSegmentBytesMax =
    std::size_t{kMaxComponents} * (kMaxSegmentBlocks * kBlockBytesMax + segment::kDcHeadBytes + 8) +
    16;

/// Writes bits from low to high into a buffer that is known to be large enough, with 8 bytes to
/// spare.
class BitWriter {
 public:
  explicit BitWriter(std::byte* out) : out_(out) {}

  /// `value` has no bits but its lowest `count`, at most 63.
  void put(std::uint64_t value, int count) {
    if (count > 32) {
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

int width_of(int value) { return static_cast<int>(std::bit_width(static_cast<unsigned>(value))); }

const std::int16_t* block_of(const SegmentPlane& plane, int index) {
  return plane.coefficients + (index / plane.columns) * plane.row_stride +
         (index % plane.columns) * kBlockCoefficients;
}

bool pack_dc(const SegmentPlane& plane, BitWriter& bits) {
  const int count = plane.rows * plane.columns;
  int smallest = segment::kMaxDc;
  int largest = segment::kMinDc;
  for (int index = 0; index < count; ++index) {
    const int dc = block_of(plane, index)[0];
    smallest = std::min(smallest, dc);
    largest = std::max(largest, dc);
  }
  if (smallest < segment::kMinDc || largest > segment::kMaxDc) return false;
  const int width = width_of(largest - smallest);
  bits.put(static_cast<std::uint64_t>(smallest - segment::kMinDc), 12);
  bits.put(static_cast<std::uint64_t>(width), 4);
  for (int index = 0; index < count; ++index) {
    bits.put(static_cast<std::uint64_t>(block_of(plane, index)[0] - smallest), width);
  }
  bits.flush();
  return true;
}

/// A block's AC coefficients that are not zero, in zigzag order.
struct SparseBlock {
  std::uint64_t mask = 0;      // bit k: position k is not zero
  std::uint64_t negative = 0;  // bit i: the i-th of them is
  std::uint64_t large = 0;     // bit i: the i-th of them is beyond +-1
  int count = 0;
  int low_width = 0;
  int high_width = 0;
  std::array<std::int16_t, kBlockCoefficients> magnitudes;

  int mask_bytes() const { return (static_cast<int>(std::bit_width(mask >> 1)) + 7) / 8; }
};

/// False when a magnitude is too large for the format.
bool read_block(const std::int16_t* block, SparseBlock& sparse) {
  // Without branches: which coefficients are zero cannot be foreseen.
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
  const int low_count = std::popcount(mask & ((1U << segment::kLowEnd) - 1U));
  const auto largest = [&](int first, int end) {
    int result = 0;
    for (int i = first; i < end; ++i) {
      result = std::max(result, int{sparse.magnitudes[std::size_t(i)]});
    }
    return result;
  };
  const int low = largest(0, low_count);
  const int high = largest(low_count, count);
  sparse.low_width = low > 1 ? width_of(low - 2) : 0;
  sparse.high_width = high > 1 ? width_of(high - 2) : 0;
  return std::max(low, high) <= segment::kMaxMagnitude;
}

void pack_bits(const SparseBlock& sparse, BitWriter& bits) {
  bits.put(sparse.negative, sparse.count);
  bits.put(sparse.large, sparse.count);
  const int low_count = std::popcount(sparse.mask & ((1U << segment::kLowEnd) - 1U));
  for (std::uint64_t rest = sparse.large; rest != 0; rest &= rest - 1) {
    const int index = std::countr_zero(rest);
    bits.put(static_cast<std::uint64_t>(sparse.magnitudes[std::size_t(index)] - 2),
             index < low_count ? sparse.low_width : sparse.high_width);
  }
}

void put_head(std::byte* heads, int block, const SparseBlock& sparse) {
  const int bits = sparse.mask_bytes() | sparse.low_width << 4 | sparse.high_width << 8;
  std::byte* at = heads + block + (block >> 1);
  const int shift = 4 * (block & 1);
  at[0] = (shift == 0 ? std::byte{0} : at[0]) | static_cast<std::byte>(bits << shift & 0xFF);
  at[1] = static_cast<std::byte>(bits << shift >> 8);
}

/// Writes everything but the DC values, from `out` on; null when a magnitude is too large.
std::byte* pack_ac(std::span<const SegmentPlane> planes, int blocks, std::byte* out) {
  std::array<std::byte, kMaxComponents * kMaxSegmentBlocks * segment::kMaxMaskBytes> masks;
  std::byte* first_mask = masks.data() + masks.size();
  BitWriter bits(out + segment::heads_size(blocks));
  SparseBlock sparse;
  int block = 0;
  for (const SegmentPlane& plane : planes) {
    for (int index = 0; index < plane.rows * plane.columns; ++index) {
      if (!read_block(block_of(plane, index), sparse)) return nullptr;
      put_head(out, block++, sparse);
      pack_bits(sparse, bits);
      // Backwards, so that a reader that starts at the segment's end needs no further offset.
      const std::uint64_t mask = sparse.mask >> 1;
      first_mask -= sparse.mask_bytes();
      std::memcpy(first_mask, &mask, static_cast<std::size_t>(sparse.mask_bytes()));
    }
  }
  return std::copy(first_mask, masks.data() + masks.size(), bits.flush());
}

}  // namespace

bool pack_segment(std::span<const SegmentPlane> planes, std::vector<std::byte>& out) {
  const std::size_t start = out.size();
  out.resize(start + kSegmentBytesMax);
  BitWriter dc(out.data() + start);
  int blocks = 0;
  for (const SegmentPlane& plane : planes) {
    if (!pack_dc(plane, dc)) return false;
    blocks += plane.rows * plane.columns;
  }
  const std::byte* end = pack_ac(planes, blocks, dc.flush());
  if (end == nullptr) return false;
  out.resize(static_cast<std::size_t>(end - out.data()));
  return true;
}

}  // namespace unstarve::kernels
