#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace unstarve::feed {

/// One Huffman code of a JPEG, prepared so that one look at the next bits usually gives a whole
/// coefficient: the symbol and the magnitude bits after it.
class HuffmanTable {
 public:
  /// Bits looked at. 2^11 entries of 4 bytes: two such tables and the coefficients stay in the
  /// first-level cache; with 9 bits an eighth of the coefficients of photographs need a second
  /// look, with 11 a fiftieth.
  static constexpr int kLookBits = 11;

  /// What the next kLookBits bits begin with.
  ///   value != 0: a whole coefficient: `length` bits in all, `run` zeros before it
  ///   else, length > 0: a symbol of `length` bits: `run` zeros, then `magnitude_bits` more bits
  ///   else: the code is longer, or there is none: see decode_long()
  class Entry {
   public:
    Entry() = default;
    Entry(int length, std::uint8_t symbol, int value)
        : packed_(static_cast<std::uint32_t>(length) | std::uint32_t{symbol} << 8 |
                  static_cast<std::uint32_t>(value) << 16) {}
    // The length lies lowest: a shift by it takes the loaded register as it is.
    int length() const { return static_cast<int>(packed_ & 63); }
    int symbol() const { return static_cast<int>(packed_ >> 8 & 255); }
    int run() const { return static_cast<int>(packed_ >> 12 & 15); }
    int magnitude_bits() const { return static_cast<int>(packed_ >> 8 & 15); }
    int value() const { return static_cast<std::int32_t>(packed_) >> 16; }

   private:
    std::uint32_t packed_ = 0;
  };

  /// `counts[i]` codes of i + 1 bits, which stand for `symbols` in order. False when that is no
  /// prefix code.
  bool build(std::span<const std::uint8_t, 16> counts, std::span<const std::uint8_t> symbols);

  Entry look(std::uint64_t next_bits) const { return look_[next_bits >> (64 - kLookBits)]; }
  /// The symbol whose code `next_bits` (the stream's next 64, first bit highest) begin with, when
  /// look() did not find it. length 0: there is no such code.
  Entry decode_long(std::uint64_t next_bits) const;

 private:
  void fill_look(int length, std::uint32_t code, std::uint8_t symbol);

  std::array<Entry, std::size_t{1} << kLookBits> look_;
  std::array<std::uint32_t, 17> limit_ = {};  // first 16-bit prefix that is no longer of length i
  std::array<std::int32_t, 17> offset_ = {};  // of a code of length i into symbols_
  std::array<std::uint8_t, 256> symbols_ = {};
};

/// The value of `bits` magnitude bits, as JPEG writes signed numbers (T.81, F.2.2.1, EXTEND).
constexpr int extend_sign(int magnitude, int bits) {
  return magnitude < (1 << bits >> 1) ? magnitude - (1 << bits) + 1 : magnitude;
}

}  // namespace unstarve::feed
