#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace unstarve::kernels::segment {

/// Writes bits from low to high into a buffer that is known to be large enough, with 8 bytes to
/// spare.
class BitWriter {
 public:
  BitWriter() = default;
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
  /// The first `count` bits of what another one wrote from `from` on. Reads up to 8 bytes more.
  void append(const std::byte* from, std::ptrdiff_t count) {
    std::uint64_t word = 0;
    for (; count >= 64; count -= 64, from += sizeof(word), out_ += sizeof(word)) {
      std::memcpy(&word, from, sizeof(word));
      const std::uint64_t shifted = pending_ | word << filled_;
      std::memcpy(out_, &shifted, sizeof(shifted));
      pending_ = word >> 1 >> (63 - filled_);
    }
    std::memcpy(&word, from, sizeof(word));
    put(word & ((std::uint64_t{1} << count) - 1), static_cast<int>(count));
  }
  /// Bits written since `begin`, which is where the writer began or has been flushed.
  std::ptrdiff_t bits_since(const std::byte* begin) const { return 8 * (out_ - begin) + filled_; }
  /// Fills the last byte up and returns where the next one goes.
  std::byte* flush() {
    out_ += filled_ > 0 ? 1 : 0;
    pending_ = 0;
    filled_ = 0;
    return out_;
  }

 private:
  std::byte* out_ = nullptr;
  std::uint64_t pending_ = 0;
  int filled_ = 0;  // bits of `pending_`, below 8 between calls
};

}  // namespace unstarve::kernels::segment
