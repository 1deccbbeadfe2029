#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/segment/bit_writer.h"
#include "kernels/segment/segment_pack.h"
#include "kernels/segment/segment_packer.h"

// The parts of writing a packed segment that need no vectors.
namespace unstarve::kernels::segment {

/// Writes all but the DC values of the first `count` blocks, from `out` on, with the widest vectors
/// that this CPU has; null when a magnitude is too large for the format.
std::byte* write_blocks(const SparseBlocks& blocks, std::size_t count, std::byte* out);

using BlockHeads = std::array<std::uint16_t, SparseBlocks::kRoom>;  // head_of() each

inline std::byte* write_heads(const BlockHeads& heads, std::size_t count, std::byte* out) {
  std::size_t block = 0;
  for (; block + 2 <= count; block += 2, out += 3) {
    const std::uint32_t pair = heads[block] | std::uint32_t{heads[block + 1]} << 12;
    std::memcpy(out, &pair, 3);  // what follows may be there already
  }
  if (block == count) return out;
  std::memcpy(out, &heads[block], sizeof(heads[block]));
  return out + sizeof(heads[block]);
}

/// Masks lie backwards, nibble by nibble, from the segment's end. They are written forwards:
/// writing backwards would read back words that have just been written in parts, which stalls.
class MaskWriter {
 public:
  /// `nibbles` is how many there will be.
  MaskWriter(std::byte* out, int nibbles) : out_(out), filled_(4 * (nibbles & 1)) {}

  /// `nibbles` at most 17; a mask of 16, with or without a nibble of padding, begins at a byte.
  void put(std::uint64_t mask, int nibbles) {
    const std::uint64_t word = pending_ | mask << filled_;
    std::memcpy(out_, &word, sizeof(word));
    filled_ += 4 * nibbles;
    const int bytes = filled_ >> 3;
    out_ += bytes;
    pending_ = word >> 4 * bytes >> 4 * bytes;  // in two steps: `bytes` may be 8
    filled_ &= 7;
  }
  std::byte* end() const { return out_; }

 private:
  std::byte* out_;
  std::uint64_t pending_ = 0;
  int filled_;
};

inline std::byte* write_masks(const SparseBlocks& blocks, const BlockHeads& heads,
                              std::size_t count, std::byte* out) {
  // How many nibbles each takes, with the one that is left out behind a long mask so that it begins
  // at a whole byte.
  std::array<std::int8_t, SparseBlocks::kRoom> nibbles;
  int sum = 0;
  for (std::size_t block = 0; block < count; ++block) {
    const int code = heads[block] & 15;
    const int taken = code == kLongMask ? 16 + (sum & 1) : code;
    nibbles[block] = static_cast<std::int8_t>(taken);
    sum += taken;
  }
  MaskWriter masks(out, sum);
  for (std::size_t block = count; block > 0; --block) {
    masks.put(blocks.nonzero[block - 1] >> 1, nibbles[block - 1]);
  }
  return masks.end();
}

}  // namespace unstarve::kernels::segment
