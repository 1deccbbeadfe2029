// Unpacking of segments, compiled once per instruction set by Highway. Highway 1.0.3 has no words
// for depositing bits (pdep), for expanding under a mask and for shifting many fields out of one
// word, which are what makes this fast: those are x86 intrinsics here, inside the guards of the
// targets that have them. Every other target takes the portable block.

// Ice Lake and Zen 4 (VBMI, VBMI2); Highway compiles this target on request only.
#ifndef HWY_WANT_AVX3_DL
#define HWY_WANT_AVX3_DL
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/segment/segment_simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first: it includes this file once per target.
#include <hwy/highway.h>

#include "kernels/segment/segment_layout.h"
#include "kernels/segment/segment_tables.h"

HWY_BEFORE_NAMESPACE();
namespace unstarve::kernels::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
#define UNSTARVE_HAVE_DEPOSIT 1
#else
#define UNSTARVE_HAVE_DEPOSIT 0
#endif

constexpr std::uint64_t kLowPositions = (std::uint64_t{1} << segment::kLowEnd) - 1;

HWY_INLINE int count_bits(std::uint64_t bits) { return __builtin_popcountll(bits); }

/// Bit i of `bits` goes to the i-th set bit of `mask`.
HWY_INLINE std::uint64_t deposit(std::uint64_t bits, std::uint64_t mask) {
#if UNSTARVE_HAVE_DEPOSIT
  return _pdep_u64(bits, mask);
#else
  std::uint64_t result = 0;
  // Without branches: which bits are set cannot be foreseen.
  for (; mask != 0; mask &= mask - 1, bits >>= 1) {
    result |= mask & (~mask + 1) & (~(bits & 1) + 1);
  }
  return result;
#endif
}

/// At least 57 bits from bit `position` on.
HWY_INLINE std::uint64_t bits_at(const std::uint8_t* first, std::int64_t position) {
  return segment::load<std::uint64_t>(first + (position >> 3)) >> (position & 7);
}

/// 64 bits from bit `position` on.
HWY_INLINE std::uint64_t all_bits_at(const std::uint8_t* first, std::int64_t position) {
  const std::uint64_t ninth = first[(position >> 3) + 8];
  return bits_at(first, position) | ninth << 1 << (63 - (position & 7));
}

/// Where in a segment the next block's parts lie.
struct Cursor {
  const std::uint8_t* bits = nullptr;
  std::int64_t position = 0;  // in bits, from `bits`
  std::int64_t mask_end = 0;  // in nibbles, from `bits`
};

/// A block's masks, bit k for zigzag position k, and where its magnitudes lie.
struct Block {
  std::uint64_t nonzero = 0;
  std::uint64_t negative = 0;
  std::uint64_t large = 0;  // beyond +-1
  unsigned low_code = 0;
  unsigned high_code = 0;
  std::int64_t low_at = 0;  // bits
  std::int64_t high_at = 0;

  int low_width() const { return static_cast<int>(low_code) - 1; }
  int high_width() const { return static_cast<int>(high_code) - 1; }
};

/// Reads all but the magnitudes, and moves on to the next block. False when the block's bits run
/// into the masks. Reads at most 17 bytes past the segment's end: what comes before `position` has
/// been checked, and signs and "large" bits take 126 bits at most.
HWY_INLINE bool next_block(Cursor& cursor, unsigned head, Block& block) {
  const unsigned mask_code = head & 15;
  const auto is_long = static_cast<std::int64_t>(mask_code == segment::kLongMask);
  const std::int64_t start = (cursor.mask_end - mask_code - is_long) & ~is_long;
  if (HWY_UNLIKELY(start < 0)) return false;
  cursor.mask_end = start;
  std::uint64_t mask = bits_at(cursor.bits, 4 * start);
  // 64 bits start at a whole byte and need no cut.
  if (HWY_LIKELY(is_long == 0)) mask &= (std::uint64_t{1} << (4 * mask_code)) - 1;
  block.nonzero = mask << 1;

  block.low_code = (head >> 4) & 15;
  block.high_code = (head >> 8) & 15;
  const std::uint64_t may_be_large = block.nonzero & ((block.low_code > 0 ? kLowPositions : 0) |
                                                      (block.high_code > 0 ? ~kLowPositions : 0));
  const int signs = count_bits(block.nonzero);
  const std::int64_t large_at = cursor.position + signs;
  if (HWY_LIKELY(signs <= 57)) {
    block.negative = deposit(bits_at(cursor.bits, cursor.position), block.nonzero);
    block.large = deposit(bits_at(cursor.bits, large_at), may_be_large);
  } else {
    block.negative = deposit(all_bits_at(cursor.bits, cursor.position), block.nonzero);
    block.large = deposit(all_bits_at(cursor.bits, large_at), may_be_large);
  }
  block.low_at = large_at + count_bits(may_be_large);
  block.high_at =
      block.low_at + std::int64_t{count_bits(block.large & kLowPositions)} * block.low_width();
  cursor.position =
      block.high_at + std::int64_t{count_bits(block.large & ~kLowPositions)} * block.high_width();
  return HWY_LIKELY(cursor.position <= 4 * start);
}

HWY_INLINE bool has_possible_widths(const Block& block) {
  return block.low_code <= segment::kMaxWidthCode && block.high_code <= segment::kMaxWidthCode;
}

HWY_INLINE bool is_narrow(const Block& block) {
  return block.low_code <= segment::kMaxNarrowWidth + 1 &&
         block.high_code <= segment::kMaxNarrowWidth + 1;
}

/// Negative where position k is, without a branch.
HWY_INLINE std::int16_t with_sign(const Block& block, int k, int magnitude) {
  const int sign = -static_cast<int>(block.negative >> k & 1);
  return static_cast<std::int16_t>((magnitude ^ sign) - sign);
}

/// Writes the coefficients `positions` of the block one by one; their magnitudes lie at bit `at`.
HWY_INLINE void write_large(const Cursor& cursor, const Block& block, std::uint64_t positions,
                            std::int16_t* HWY_RESTRICT out) {
  std::int64_t at = (positions & kLowPositions) != 0 ? block.low_at : block.high_at;
  for (std::uint64_t rest = positions; rest != 0; rest &= rest - 1) {
    const int k = __builtin_ctzll(rest);
    const int width = k < segment::kLowEnd ? block.low_width() : block.high_width();
    const auto extra = bits_at(cursor.bits, at) & ((std::uint64_t{1} << width) - 1);
    at += width;
    out[segment::kNaturalOrder[static_cast<std::size_t>(k)]] =
        with_sign(block, k, 2 + static_cast<int>(extra));
  }
}

#if HWY_TARGET == HWY_AVX3_DL

/// Up to 64 fields of the same width, at most 7, each in a byte of its own.
HWY_INLINE __m512i narrow_fields(const Cursor& cursor, std::int64_t at, unsigned code) {
  const segment::NarrowFields& fields = segment::kNarrowFields[code];
  const __m512i bytes = _mm512_permutexvar_epi8(_mm512_load_si512(fields.gather.data()),
                                                _mm512_loadu_si512(cursor.bits + (at >> 3)));
  const __m512i shifts = _mm512_add_epi8(_mm512_load_si512(fields.shift.data()),
                                         _mm512_set1_epi8(static_cast<char>(at & 7)));
  return _mm512_and_si512(_mm512_multishift_epi64_epi8(shifts, bytes),
                          _mm512_set1_epi8(static_cast<char>((1U << code >> 1) - 1U)));
}

/// The same for up to 16 fields.
HWY_INLINE __m128i few_narrow_fields(const Cursor& cursor, std::int64_t at, unsigned code) {
  const segment::NarrowFields& fields = segment::kNarrowFields[code];
  const auto* gather = reinterpret_cast<const __m128i*>(fields.gather.data());
  const auto* shift = reinterpret_cast<const __m128i*>(fields.shift.data());
  const auto* from = reinterpret_cast<const __m128i*>(cursor.bits + (at >> 3));
  const __m128i bytes = _mm_permutexvar_epi8(_mm_load_si128(gather), _mm_loadu_si128(from));
  const __m128i shifts =
      _mm_add_epi8(_mm_load_si128(shift), _mm_set1_epi8(static_cast<char>(at & 7)));
  return _mm_and_si128(_mm_multishift_epi64_epi8(shifts, bytes),
                       _mm_set1_epi8(static_cast<char>((1U << code >> 1) - 1U)));
}

/// Up to 32 fields of the same width, at most 10, each in a 16-bit word of its own.
HWY_INLINE __m512i wide_fields(const Cursor& cursor, std::int64_t at, unsigned code) {
  const segment::WideFields& fields = segment::kWideFields[code];
  const __m512i bytes = _mm512_permutexvar_epi8(_mm512_load_si512(fields.gather.data()),
                                                _mm512_loadu_si512(cursor.bits + (at >> 3)));
  const __m512i shifts = _mm512_add_epi8(_mm512_load_si512(fields.shift.data()),
                                         _mm512_set1_epi8(static_cast<char>(at & 7)));
  return _mm512_and_si512(_mm512_multishift_epi64_epi8(shifts, bytes),
                          _mm512_set1_epi16(static_cast<short>((1U << code >> 1) - 1U)));
}

HWY_NOINLINE void write_wide_block(Cursor cursor, Block block, std::int16_t* HWY_RESTRICT out) {
  const auto lower = static_cast<__mmask32>(block.large & kLowPositions);
  const auto middle = static_cast<__mmask32>(block.large & ~kLowPositions);
  const auto upper = static_cast<__mmask32>(block.large >> 32);
  const std::int64_t upper_at =
      block.high_at + std::int64_t{count_bits(middle)} * block.high_width();
  const __m512i extra[2] = {
      _mm512_or_si512(
          _mm512_maskz_expand_epi16(lower, wide_fields(cursor, block.low_at, block.low_code)),
          _mm512_maskz_expand_epi16(middle, wide_fields(cursor, block.high_at, block.high_code))),
      _mm512_maskz_expand_epi16(upper, wide_fields(cursor, upper_at, block.high_code))};
  __m512i values[2];
  for (int half = 0; half < 2; ++half) {
    const auto nonzero = static_cast<__mmask32>(block.nonzero >> (32 * half));
    const auto large = static_cast<__mmask32>(block.large >> (32 * half));
    const auto negative = static_cast<__mmask32>(block.negative >> (32 * half));
    const __m512i magnitude = _mm512_mask_add_epi16(_mm512_maskz_set1_epi16(nonzero, 1), large,
                                                    extra[half], _mm512_set1_epi16(2));
    values[half] = _mm512_mask_sub_epi16(magnitude, negative, _mm512_setzero_si512(), magnitude);
  }
  for (int half = 0; half < 2; ++half) {
    const __m512i order = _mm512_load_si512(segment::kZigzagWords.data() + 32 * half);
    _mm512_storeu_si512(out + 32 * half, _mm512_permutex2var_epi16(values[0], order, values[1]));
  }
}

HWY_INLINE void write_narrow_block(const Cursor& cursor, const Block& block,
                                   std::int16_t* HWY_RESTRICT out) {
  const auto lower = static_cast<__mmask16>(block.large & kLowPositions);
  const __m128i low =
      _mm_maskz_expand_epi8(lower, few_narrow_fields(cursor, block.low_at, block.low_code));
  const __m512i high = _mm512_maskz_expand_epi8(
      block.large & ~kLowPositions, narrow_fields(cursor, block.high_at, block.high_code));
  const __m512i extra = _mm512_or_si512(high, _mm512_zextsi128_si512(low));
  const __m512i magnitude = _mm512_mask_add_epi8(_mm512_maskz_set1_epi8(block.nonzero, 1),
                                                 block.large, extra, _mm512_set1_epi8(2));
  const __m512i zigzag =
      _mm512_mask_sub_epi8(magnitude, block.negative, _mm512_setzero_si512(), magnitude);
  const __m512i natural =
      _mm512_permutexvar_epi8(_mm512_load_si512(segment::kZigzagBytes.data()), zigzag);
  _mm512_storeu_si512(out, _mm512_cvtepi8_epi16(_mm512_castsi512_si256(natural)));
  _mm512_storeu_si512(out + 32, _mm512_cvtepi8_epi16(_mm512_extracti64x4_epi64(natural, 1)));
}

HWY_INLINE bool write_block(const Cursor& cursor, const Block& block,
                            std::int16_t* HWY_RESTRICT out) {
  if (HWY_LIKELY(is_narrow(block))) {
    write_narrow_block(cursor, block, out);
    return true;
  }
  if (!has_possible_widths(block)) return false;
  write_wide_block(cursor, block, out);
  return true;
}

#elif UNSTARVE_HAVE_DEPOSIT

constexpr std::uint64_t kEachByte = 0x0101010101010101U;

/// The magnitudes of zigzag positions 8j to 8j + 7, a byte each. A band that is not narrow leaves
/// its large ones at 2.
HWY_INLINE std::uint64_t eight_magnitudes(const Cursor& cursor, const Block& block, int j,
                                          std::int64_t at, std::uint64_t width_mask) {
  const std::uint64_t large = _pdep_u64(block.large >> (8 * j), kEachByte);
  const std::uint64_t fields = ((large << 8) - large) & width_mask;
  return _pdep_u64(bits_at(cursor.bits, at), fields) + large +
         _pdep_u64(block.nonzero >> (8 * j), kEachByte);
}

/// Gives the 32 bytes of `half` their signs.
HWY_INLINE __m256i with_signs(const std::uint64_t* magnitudes, std::uint32_t negative) {
  const __m256i bit_of_byte = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201U));
  const __m256i spread =
      _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
  const __m256i bits = _mm256_shuffle_epi8(_mm256_set1_epi32(static_cast<int>(negative)), spread);
  const __m256i sign = _mm256_cmpeq_epi8(_mm256_and_si256(bits, bit_of_byte), bit_of_byte);
  const __m256i values = _mm256_load_si256(reinterpret_cast<const __m256i*>(magnitudes));
  return _mm256_sub_epi8(_mm256_xor_si256(values, sign), sign);
}

/// From zigzag to natural order, and from 8 to 16 bits.
HWY_INLINE void store_natural(__m256i first, __m256i second, std::int16_t* HWY_RESTRICT out) {
  const __m256i quarters[4] = {_mm256_permute2x128_si256(first, first, 0x00),
                               _mm256_permute2x128_si256(first, first, 0x11),
                               _mm256_permute2x128_si256(second, second, 0x00),
                               _mm256_permute2x128_si256(second, second, 0x11)};
  for (int half = 0; half < 2; ++half) {
    __m256i natural = _mm256_setzero_si256();
    for (int quarter = 0; quarter < 4; ++quarter) {
      const auto* order = reinterpret_cast<const __m256i*>(
          segment::kZigzagQuarters[std::size_t(quarter)].data() + 32 * half);
      natural = _mm256_or_si256(natural,
                                _mm256_shuffle_epi8(quarters[quarter], _mm256_load_si256(order)));
    }
    auto* to = reinterpret_cast<__m256i*>(out + 32 * half);
    _mm256_storeu_si256(to, _mm256_cvtepi8_epi16(_mm256_castsi256_si128(natural)));
    _mm256_storeu_si256(to + 1, _mm256_cvtepi8_epi16(_mm256_extracti128_si256(natural, 1)));
  }
}

HWY_INLINE bool write_block(const Cursor& cursor, const Block& block,
                            std::int16_t* HWY_RESTRICT out) {
  const std::uint64_t low_mask = segment::kNarrowMasks[block.low_code];
  const std::uint64_t high_mask = segment::kNarrowMasks[block.high_code];
  alignas(32) std::uint64_t magnitudes[8];
  const auto next = [&](int j, std::int64_t& at, std::uint64_t mask, int width) HWY_ATTR {
    magnitudes[j] = eight_magnitudes(cursor, block, j, at, mask);
    at += std::int64_t{count_bits(block.large >> (8 * j) & 0xFF)} * width;
  };
  std::int64_t low_at = block.low_at;
  std::int64_t high_at = block.high_at;
  next(0, low_at, low_mask, block.low_width());
  next(1, low_at, low_mask, block.low_width());
  next(2, high_at, high_mask, block.high_width());
  next(3, high_at, high_mask, block.high_width());
  if (block.nonzero >> 32 != 0) {
    for (int j = 4; j < 8; ++j) next(j, high_at, high_mask, block.high_width());
  } else {
    for (int j = 4; j < 8; ++j) magnitudes[j] = 0;
  }
  store_natural(with_signs(magnitudes, static_cast<std::uint32_t>(block.negative)),
                with_signs(magnitudes + 4, static_cast<std::uint32_t>(block.negative >> 32)), out);
  if (HWY_LIKELY(is_narrow(block))) return true;
  if (!has_possible_widths(block)) return false;
  if (block.low_code > segment::kMaxNarrowWidth + 1) {
    write_large(cursor, block, block.large & kLowPositions, out);
  }
  if (block.high_code > segment::kMaxNarrowWidth + 1) {
    write_large(cursor, block, block.large & ~kLowPositions, out);
  }
  return true;
}

#else

HWY_INLINE bool write_block(const Cursor& cursor, const Block& block,
                            std::int16_t* HWY_RESTRICT out) {
  if (!has_possible_widths(block)) return false;
  std::memset(out, 0, kBlockCoefficients * sizeof(*out));
  for (std::uint64_t rest = block.nonzero & ~block.large; rest != 0; rest &= rest - 1) {
    const int k = __builtin_ctzll(rest);
    out[segment::kNaturalOrder[static_cast<std::size_t>(k)]] = with_sign(block, k, 1);
  }
  write_large(cursor, block, block.large & kLowPositions, out);
  write_large(cursor, block, block.large & ~kLowPositions, out);
  return true;
}

#endif

bool unpack_segment_simd(std::span<const std::byte> bytes, std::span<const SegmentPlane> planes) {
  segment::Sections sections;
  if (!segment::find_sections(bytes, planes, sections)) return false;
  Cursor cursor{sections.bits, 0, 2 * (sections.end - sections.bits)};
  Block block;
  int number = 0;
  for (std::size_t component = 0; component < planes.size(); ++component) {
    const SegmentPlane& plane = planes[component];
    std::array<std::int16_t, kMaxSegmentBlocks> dc_values;
    for (int i = 0; i < plane.rows * plane.columns; ++i) {
      dc_values[static_cast<std::size_t>(i)] = static_cast<std::int16_t>(sections.dc[component][i]);
    }
    const std::int16_t* dc = dc_values.data();
    for (int row = 0; row < plane.rows; ++row) {
      std::int16_t* out = plane.coefficients + row * plane.row_stride;
      for (int column = 0; column < plane.columns; ++column, out += kBlockCoefficients) {
        const unsigned head = segment::head_bits(sections.heads, number++);
        if (!next_block(cursor, head, block)) return false;
        if (!write_block(cursor, block, out)) return false;
        out[0] = *dc++;
      }
    }
  }
  return true;
}

#undef UNSTARVE_HAVE_DEPOSIT

}  // namespace unstarve::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace unstarve::kernels {

HWY_EXPORT(unpack_segment_simd);

bool unpack_segment(std::span<const std::byte> bytes, std::span<const SegmentPlane> planes) {
  return HWY_DYNAMIC_DISPATCH(unpack_segment_simd)(bytes, planes);
}

}  // namespace unstarve::kernels
#endif  // HWY_ONCE
