#pragma once

#include <array>
#include <cstdint>

#include "kernels/segment/segment_layout.h"

// Tables of the SIMD paths of segment_simd.cpp, indexed by width code (0, or 1 + the width).
namespace unstarve::kernels::segment {

/// How fields of one width come out of a stream of bits into bytes of their own: byte j of the
/// vector of fields is 8 bits, from bit shift[j] of the 64-bit word that the bytes gather[j & ~7]
/// to gather[j | 7] of the stream make up. The fields' first bit must be added to `shift`.
struct NarrowFields {
  alignas(64) std::array<std::uint8_t, 64> gather = {};
  alignas(64) std::array<std::uint8_t, 64> shift = {};
};

/// The same for fields that come into words of 16 bits.
struct WideFields {
  alignas(64) std::array<std::uint8_t, 64> gather = {};
  alignas(64) std::array<std::uint8_t, 64> shift = {};
};

constexpr int kNarrowCodes = kMaxNarrowWidth + 2;
constexpr int kWideCodes = kMaxWidthCode + 1;

constexpr std::array<NarrowFields, kNarrowCodes> make_narrow_fields() {
  std::array<NarrowFields, kNarrowCodes> result = {};
  for (int code = 1; code < kNarrowCodes; ++code) {
    const int width = code - 1;
    NarrowFields& fields = result[static_cast<std::size_t>(code)];
    for (int j = 0; j < 64; ++j) {
      // Eight fields take `width` whole bytes.
      fields.gather[static_cast<std::size_t>(j)] = static_cast<std::uint8_t>(j / 8 * width + j % 8);
      fields.shift[static_cast<std::size_t>(j)] = static_cast<std::uint8_t>(j % 8 * width);
    }
  }
  return result;
}

constexpr std::array<WideFields, kWideCodes> make_wide_fields() {
  std::array<WideFields, kWideCodes> result = {};
  for (int code = 1; code < kWideCodes; ++code) {
    const int width = code - 1;
    WideFields& fields = result[static_cast<std::size_t>(code)];
    for (int j = 0; j < 64; ++j) {
      const int first_bit = j / 8 * 4 * width;  // of the four fields of one 64-bit word
      fields.gather[static_cast<std::size_t>(j)] = static_cast<std::uint8_t>(first_bit / 8 + j % 8);
      fields.shift[static_cast<std::size_t>(j)] =
          static_cast<std::uint8_t>(first_bit % 8 + j % 8 / 2 * width + j % 2 * 8);
    }
  }
  return result;
}

/// kZigzag[n]: which zigzag position the coefficient at natural position n has.
template <class T>
constexpr std::array<T, 64> make_zigzag() {
  std::array<T, 64> result = {};
  for (std::size_t k = 0; k < 64; ++k) result[kNaturalOrder[k]] = static_cast<T>(k);
  return result;
}

/// For shuffles within 16 bytes: table q takes the positions 16q to 16q + 15 and clears the rest.
constexpr std::array<std::array<std::uint8_t, 64>, 4> make_zigzag_quarters() {
  std::array<std::array<std::uint8_t, 64>, 4> result = {};
  const std::array<std::uint8_t, 64> zigzag = make_zigzag<std::uint8_t>();
  for (std::size_t quarter = 0; quarter < 4; ++quarter) {
    for (std::size_t n = 0; n < 64; ++n) {
      result[quarter][n] =
          zigzag[n] / 16 == quarter ? static_cast<std::uint8_t>(zigzag[n] % 16) : 0x80;
    }
  }
  return result;
}

/// The lowest `width` bits of every byte; none for widths that do not fit into a signed one.
constexpr std::array<std::uint64_t, 16> make_narrow_masks() {
  std::array<std::uint64_t, 16> result = {};
  for (std::size_t code = 1; code < kNarrowCodes; ++code) {
    result[code] = 0x0101010101010101U * ((1U << (code - 1)) - 1U);
  }
  return result;
}

inline constexpr std::array<NarrowFields, kNarrowCodes> kNarrowFields = make_narrow_fields();
inline constexpr std::array<WideFields, kWideCodes> kWideFields = make_wide_fields();
alignas(64) inline constexpr std::array<std::uint8_t, 64> kZigzagBytes =
    make_zigzag<std::uint8_t>();
alignas(64) inline constexpr std::array<std::uint16_t, 64> kZigzagWords =
    make_zigzag<std::uint16_t>();
alignas(64) inline constexpr std::array<std::array<std::uint8_t, 64>, 4> kZigzagQuarters =
    make_zigzag_quarters();
inline constexpr std::array<std::uint64_t, 16> kNarrowMasks = make_narrow_masks();

}  // namespace unstarve::kernels::segment
