// 64 bytes at a time: one bit per byte for quotes, backslashes and braces; a running exclusive-or
// over the quotes' bits tells what lies inside strings (the idea of simdjson's first stage:
// G. Langdale, D. Lemire, "Parsing gigabytes of JSON per second", VLDB Journal 28, 2019).
// Compiled by Highway for each instruction set; the best that the machine has is chosen at run
// time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "observe/import/object_scan_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <bit>
#include <cstring>

#include "observe/import/object_scan.h"

HWY_BEFORE_NAMESPACE();
namespace unstarve::observe {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct BlockBits {
  std::uint64_t quotes = 0;
  std::uint64_t backslashes = 0;
  std::uint64_t opens = 0;
  std::uint64_t closes = 0;
};

/// Which of the 64 bytes at `bytes` are what.
HWY_INLINE BlockBits classify(const std::uint8_t* bytes) {
  const hn::CappedTag<std::uint8_t, 64> lanes;
  const auto quote = hn::Set(lanes, '"');
  const auto backslash = hn::Set(lanes, '\\');
  const auto open = hn::Set(lanes, '{');
  const auto close = hn::Set(lanes, '}');
  std::uint8_t quotes[8];
  std::uint8_t backslashes[8];
  std::uint8_t opens[8];
  std::uint8_t closes[8];
  for (std::size_t i = 0; i < 64; i += hn::Lanes(lanes)) {
    const auto v = hn::LoadU(lanes, bytes + i);
    hn::StoreMaskBits(lanes, hn::Eq(v, quote), quotes + i / 8);
    hn::StoreMaskBits(lanes, hn::Eq(v, backslash), backslashes + i / 8);
    hn::StoreMaskBits(lanes, hn::Eq(v, open), opens + i / 8);
    hn::StoreMaskBits(lanes, hn::Eq(v, close), closes + i / 8);
  }
  BlockBits bits;
  std::memcpy(&bits.quotes, quotes, 8);
  std::memcpy(&bits.backslashes, backslashes, 8);
  std::memcpy(&bits.opens, opens, 8);
  std::memcpy(&bits.closes, closes, 8);
  return bits;
}

/// Bit i = exclusive-or of bits 0..i.
HWY_INLINE std::uint64_t running_xor(std::uint64_t bits) {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

/// Bits of bytes that an odd number of backslashes precedes. `carry` is 1 when the block's first
/// byte is such a one, and is set for the next block.
HWY_INLINE std::uint64_t escaped_bytes(std::uint64_t backslashes, std::uint64_t& carry) {
  std::uint64_t escaped = carry;
  backslashes &= ~carry;
  carry = 0;
  while (backslashes != 0) {
    const int at = std::countr_zero(backslashes);
    if (at == 63) {
      carry = 1;
      break;
    }
    escaped |= std::uint64_t{2} << at;
    backslashes &= ~(std::uint64_t{3} << at);  // this one and, if it is one, the one it escapes
  }
  return escaped;
}

bool only_separators(std::string_view text) {
  return text.find_first_not_of(" \t\r\n,") == std::string_view::npos;
}

std::size_t find_objects_here(std::string_view text, std::vector<ObjectSpan>& spans) {
  std::size_t done = 0;
  std::size_t depth = 0;
  std::size_t start = 0;
  std::uint64_t in_string_carry = 0;  // all ones while a string goes on
  std::uint64_t escape_carry = 0;
  for (std::size_t base = 0; base < text.size(); base += 64) {
    BlockBits bits = classify(reinterpret_cast<const std::uint8_t*>(text.data()) + base);
    if ((bits.backslashes | escape_carry) != 0) {
      bits.quotes &= ~escaped_bytes(bits.backslashes, escape_carry);
    }
    const std::uint64_t in_string = running_xor(bits.quotes) ^ in_string_carry;
    in_string_carry = std::uint64_t{0} - (in_string >> 63);
    std::uint64_t braces = (bits.opens | bits.closes) & ~in_string;
    if (const std::size_t left = text.size() - base; left < 64) {
      braces &= (std::uint64_t{1} << left) - 1;
    }
    for (; braces != 0; braces &= braces - 1) {
      const int bit = std::countr_zero(braces);
      const std::size_t at = base + static_cast<std::size_t>(bit);
      if (((bits.opens >> bit) & 1) != 0) {
        if (depth++ > 0) continue;
        if (!only_separators(text.substr(done, at - done))) return done;
        start = at;
      } else {
        if (depth == 0) return done;
        if (--depth > 0) continue;
        spans.push_back({static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(at + 1)});
        done = at + 1;
      }
    }
  }
  return done;
}

}  // namespace HWY_NAMESPACE
}  // namespace unstarve::observe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace unstarve::observe {

HWY_EXPORT(find_objects_here);

std::size_t find_objects(std::string_view text, std::vector<ObjectSpan>& spans) {
  return HWY_DYNAMIC_DISPATCH(find_objects_here)(text, spans);
}

}  // namespace unstarve::observe
#endif
