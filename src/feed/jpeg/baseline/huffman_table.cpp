#include "feed/jpeg/baseline/huffman_table.h"

#include <algorithm>

namespace unstarve::feed {

void HuffmanTable::fill_look(int length, std::uint32_t code, std::uint8_t symbol) {
  const int free_bits = kLookBits - length;
  const int magnitude_bits = symbol & 15;
  for (std::uint32_t rest = 0; rest < (1U << free_bits); ++rest) {
    Entry entry(length, symbol, 0);
    if (magnitude_bits > 0 && magnitude_bits <= free_bits) {
      const auto magnitude = static_cast<int>(rest >> (free_bits - magnitude_bits));
      entry = Entry(length + magnitude_bits, symbol, extend_sign(magnitude, magnitude_bits));
    }
    look_[(code << free_bits) + rest] = entry;
  }
}

bool HuffmanTable::build(std::span<const std::uint8_t, 16> counts,
                         std::span<const std::uint8_t> symbols) {
  look_.fill({});
  limit_ = {};
  offset_ = {};
  if (symbols.size() > symbols_.size()) return false;
  std::copy(symbols.begin(), symbols.end(), symbols_.begin());
  std::uint32_t code = 0;
  std::size_t next = 0;
  for (int length = 1; length <= 16; ++length) {
    const auto index = static_cast<std::size_t>(length);
    const std::uint32_t count = counts[index - 1];
    // The code of all ones is reserved (T.81, C.2), so that fewer than 2^length must be used.
    if (code + count >= (1U << length) + (count == 0 ? 1U : 0U)) return false;
    if (next + count > symbols.size()) return false;
    offset_[index] = static_cast<std::int32_t>(next) - static_cast<std::int32_t>(code);
    for (std::uint32_t i = 0; i < count; ++i, ++code, ++next) {
      if (length <= kLookBits) fill_look(length, code, symbols_[next]);
    }
    limit_[index] = code << (16 - length);
    code <<= 1;
  }
  return next == symbols.size();
}

HuffmanTable::Entry HuffmanTable::decode_long(std::uint64_t next_bits) const {
  const auto prefix = static_cast<std::uint32_t>(next_bits >> 48);
  for (int length = kLookBits + 1; length <= 16; ++length) {
    const auto index = static_cast<std::size_t>(length);
    if (prefix >= limit_[index]) continue;
    const auto code = static_cast<std::int32_t>(prefix >> (16 - length));
    const std::int32_t symbol = code + offset_[index];
    return Entry(length, symbols_[static_cast<std::size_t>(symbol)], 0);
  }
  return {};
}

}  // namespace unstarve::feed
