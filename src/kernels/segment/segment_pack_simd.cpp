// Packing of a segment's blocks, compiled once per instruction set by Highway. Only AVX-512 with
// VBMI2, which moves bytes together under a mask, has a path of its own: the blocks have some
// seventeen coefficients, which the plain loops go through quickly.

// Ice Lake and Zen 4 (VBMI, VBMI2); Highway compiles this target on request only.
#ifndef HWY_WANT_AVX3_DL
#define HWY_WANT_AVX3_DL
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/segment/segment_pack_simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first: it includes this file once per target.
#include <hwy/highway.h>

#include <cstdlib>

#include "kernels/segment/segment_write.h"

HWY_BEFORE_NAMESPACE();
namespace unstarve::kernels::HWY_NAMESPACE {

constexpr std::uint64_t kLowBand = (std::uint64_t{1} << segment::kLowEnd) - 2;

HWY_INLINE int count_ones(std::uint64_t bits) { return __builtin_popcountll(bits); }
/// `count` ones, at most 63.
HWY_INLINE std::uint64_t ones(int count) { return (std::uint64_t{1} << count) - 1; }

#if HWY_TARGET == HWY_AVX3_DL

constexpr std::size_t kRoom = SparseBlocks::kRoom;

/// What is known of each block, arranged for eight blocks at a time. "Coefficients" are those that
/// are not zero; the i-th of them is bit i or byte i.
struct Columns {
  alignas(64) std::uint64_t count[kRoom];      // of coefficients
  alignas(64) std::uint64_t low_count[kRoom];  // of those in the low band
  alignas(64) std::uint64_t valid[kRoom];      // ones for all
  alignas(64) std::uint64_t low[kRoom];        // ones for those in the low band
  alignas(64) std::uint64_t negative[kRoom];
  alignas(64) std::uint64_t large[kRoom];  // beyond +-1
  alignas(64) std::uint8_t
      low_largest[kRoom][16];  // whose largest is that of the band's magnitudes
  alignas(64) std::uint8_t high_largest[kRoom][16];
  alignas(64) std::uint8_t fields[kRoom][64];  // of the large ones, moved together
  // What is to be written: bits and how many; of the fields the first sixteen.
  alignas(64) std::uint64_t signs[kRoom];
  alignas(64) std::uint64_t flags[kRoom];
  alignas(64) std::uint64_t flag_count[kRoom];
  alignas(64) std::uint64_t field_mask[2][kRoom];
  alignas(64) std::uint64_t field_bits[2][kRoom];
  alignas(64) std::uint64_t field_count[kRoom];
  segment::BlockHeads heads;
  std::uint8_t wide[kRoom / 8];  // bit: a block with magnitudes that do not fit into 7 bits
};

HWY_INLINE __m512i load8(const std::uint64_t* from) { return _mm512_load_si512(from); }
HWY_INLINE void store8(std::uint64_t* to, __m512i values) { _mm512_store_si512(to, values); }
HWY_INLINE __m512i all8(long long value) { return _mm512_set1_epi64(value); }
/// `counts` ones each; 64 where it is more.
HWY_INLINE __m512i ones8(__m512i counts) {
  return _mm512_sub_epi64(_mm512_sllv_epi64(all8(1), counts), all8(1));
}

HWY_INLINE void count_coefficients(const SparseBlocks& blocks, std::size_t first, Columns& to) {
  const __m512i nonzero = load8(blocks.nonzero + first);
  const __m512i count = _mm512_popcnt_epi64(nonzero);
  const __m512i low_count = _mm512_popcnt_epi64(_mm512_and_si512(nonzero, all8(kLowBand)));
  store8(to.count + first, count);
  store8(to.low_count + first, low_count);
  store8(to.valid + first, ones8(count));
  store8(to.low + first, ones8(low_count));
}

HWY_INLINE void read_values(const std::int16_t* values, std::size_t block, Columns& to) {
  const __m512i first = _mm512_load_si512(values);
  const __m512i second = _mm512_load_si512(values + 32);
  to.negative[block] = _mm512_kunpackd(_mm512_movepi16_mask(second), _mm512_movepi16_mask(first));
  // Magnitudes, those beyond 255 as 255.
  const __m512i magnitudes =
      _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtusepi16_epi8(_mm512_abs_epi16(first))),
                         _mm512_cvtusepi16_epi8(_mm512_abs_epi16(second)), 1);
  const __mmask64 valid = to.valid[block];
  const __mmask64 low = to.low[block];
  const __mmask64 large = _mm512_mask_cmpgt_epu8_mask(valid, magnitudes, _mm512_set1_epi8(1));
  to.large[block] = large;
  _mm512_store_si512(
      to.fields[block],
      _mm512_maskz_compress_epi8(large, _mm512_sub_epi8(magnitudes, _mm512_set1_epi8(2))));
  const __m128i low_band =
      _mm_maskz_mov_epi8(static_cast<__mmask16>(low), _mm512_castsi512_si128(magnitudes));
  _mm_store_si128(reinterpret_cast<__m128i*>(to.low_largest[block]), low_band);
  const __m512i high_band = _mm512_maskz_mov_epi8(_kandn_mask64(low, valid), magnitudes);
  const __m256i half =
      _mm256_max_epu8(_mm512_castsi512_si256(high_band), _mm512_extracti64x4_epi64(high_band, 1));
  _mm_store_si128(reinterpret_cast<__m128i*>(to.high_largest[block]),
                  _mm_max_epu8(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1)));
}

/// The largest of each block's 16 bytes.
HWY_INLINE __m512i largest8(const std::uint8_t (*bytes)[16]) {
  const __m512i first = _mm512_load_si512(bytes);
  const __m512i second = _mm512_load_si512(bytes + 4);
  __m512i largest =
      _mm512_max_epu8(_mm512_unpacklo_epi64(first, second), _mm512_unpackhi_epi64(first, second));
  for (const unsigned shift : {32U, 16U, 8U}) {
    largest = _mm512_max_epu8(largest, _mm512_srli_epi64(largest, shift));
  }
  const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
  return _mm512_permutexvar_epi64(order, _mm512_and_si512(largest, all8(0xFF)));
}

/// segment::width_code() of magnitudes up to kMaxNarrowMagnitude.
alignas(64) constexpr std::array<std::uint8_t, 128> kNarrowCodes = [] {
  std::array<std::uint8_t, 128> codes = {};
  for (std::size_t largest = 2; largest < codes.size(); ++largest) {
    codes[largest] = static_cast<std::uint8_t>(1 + std::bit_width(largest - 2));
  }
  return codes;
}();

HWY_INLINE __m512i codes8(__m512i largest) {
  return _mm512_permutex2var_epi8(_mm512_load_si512(kNarrowCodes.data()), largest,
                                  _mm512_load_si512(kNarrowCodes.data() + 64));
}

/// segment::mask_code().
HWY_INLINE __m512i mask_codes8(__m512i nonzero) {
  __m512i mask = _mm512_srli_epi64(nonzero, 1);
  for (const unsigned shift : {1U, 2U, 4U, 8U, 16U, 32U}) {
    mask = _mm512_or_si512(mask, _mm512_srli_epi64(mask, shift));
  }
  const __m512i length = _mm512_popcnt_epi64(mask);
  const __m512i nibbles = _mm512_srli_epi64(_mm512_add_epi64(length, all8(3)), 2);
  return _mm512_min_epu64(nibbles, all8(segment::kLongMask));
}

HWY_INLINE int largest_word(__m512i words) {
  const __m256i half =
      _mm256_max_epu16(_mm512_castsi512_si256(words), _mm512_extracti64x4_epi64(words, 1));
  const __m128i rest =
      _mm_max_epu16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  // x86 finds the smallest of eight words: that of the complements.
  const __m128i complements = _mm_xor_si128(rest, _mm_set1_epi32(-1));
  return ~_mm_cvtsi128_si32(_mm_minpos_epu16(complements)) & 0xFFFF;
}

struct Codes {
  alignas(64) std::uint64_t low[8];
  alignas(64) std::uint64_t high[8];
};

/// The codes of a block whose magnitudes do not fit into bytes; false when they are too large.
bool find_wide_codes(const std::int16_t* values, std::uint64_t valid, std::uint64_t low,
                     std::uint64_t& low_code, std::uint64_t& high_code) {
  const __m512i first = _mm512_abs_epi16(_mm512_load_si512(values));
  const __m512i second = _mm512_abs_epi16(_mm512_load_si512(values + 32));
  const std::uint64_t high = valid & ~low;
  const int low_largest = largest_word(_mm512_maskz_mov_epi16(static_cast<__mmask32>(low), first));
  const int high_largest = largest_word(
      _mm512_max_epu16(_mm512_maskz_mov_epi16(static_cast<__mmask32>(high), first),
                       _mm512_maskz_mov_epi16(static_cast<__mmask32>(high >> 32), second)));
  low_code = static_cast<std::uint64_t>(segment::width_code(low_largest));
  high_code = static_cast<std::uint64_t>(segment::width_code(high_largest));
  return std::max(low_largest, high_largest) <= segment::kMaxMagnitude;
}

HWY_INLINE bool find_codes(const SparseBlocks& blocks, std::size_t first, Columns& to,
                           __m512i& low_code, __m512i& high_code) {
  const __m512i low_largest = largest8(to.low_largest + first);
  const __m512i high_largest = largest8(to.high_largest + first);
  low_code = codes8(low_largest);
  high_code = codes8(high_largest);
  const __m512i largest = _mm512_max_epu64(low_largest, high_largest);
  unsigned wide = _mm512_cmpgt_epu64_mask(largest, all8(segment::kMaxNarrowMagnitude));
  to.wide[first / 8] = static_cast<std::uint8_t>(wide);
  if (HWY_LIKELY(wide == 0)) return true;
  Codes codes;
  store8(codes.low, low_code);
  store8(codes.high, high_code);
  for (; wide != 0; wide &= wide - 1) {
    const auto i = static_cast<std::size_t>(__builtin_ctz(wide));
    if (!find_wide_codes(blocks.values[first + i], to.valid[first + i], to.low[first + i],
                         codes.low[i], codes.high[i])) {
      return false;
    }
  }
  low_code = load8(codes.low);
  high_code = load8(codes.high);
  return true;
}

/// One byte of each 64-bit word in all its bytes.
HWY_INLINE __m512i spread8(__m512i words) {
  const __m512i lowest = _mm512_set_epi64(0x0808080808080808, 0, 0x0808080808080808, 0,
                                          0x0808080808080808, 0, 0x0808080808080808, 0);
  return _mm512_shuffle_epi8(words, lowest);
}

/// Which bits of the first sixteen fields are written: those of the band's width, of `all` fields,
/// of which the first `low_large` are the low band's.
HWY_INLINE void plan_fields(__m512i low_code, __m512i high_code, std::size_t first, Columns& to) {
  const __m512i large = load8(to.large + first);
  const __m512i low_large = _mm512_popcnt_epi64(_mm512_and_si512(large, load8(to.low + first)));
  const __m512i count = _mm512_popcnt_epi64(large);
  const __m512i one_per_lane = all8(1);
  const __m512i low_field = spread8(ones8(_mm512_sub_epi64(low_code, one_per_lane)));
  const __m512i high_field = spread8(ones8(_mm512_sub_epi64(high_code, one_per_lane)));
  __m512i low_bits = _mm512_slli_epi64(low_large, 3);
  __m512i all_bits = _mm512_slli_epi64(count, 3);
  for (std::size_t word = 0; word < 2; ++word) {
    const __m512i mask = _mm512_and_si512(
        ones8(all_bits), _mm512_ternarylogic_epi64(ones8(low_bits), low_field, high_field, 0xCA));
    store8(to.field_mask[word] + first, mask);
    store8(to.field_bits[word] + first, _mm512_popcnt_epi64(mask));
    low_bits = _mm512_subs_epu16(low_bits, all8(64));
    all_bits = _mm512_subs_epu16(all_bits, all8(64));
  }
  store8(to.field_count + first, count);
}

/// Eight blocks' heads, signs and which coefficients are large.
HWY_INLINE bool plan_bits(const SparseBlocks& blocks, std::size_t first, Columns& to) {
  __m512i low_code;
  __m512i high_code;
  if (!find_codes(blocks, first, to, low_code, high_code)) return false;
  const __m512i mask_code = mask_codes8(load8(blocks.nonzero + first));
  const __m512i head = _mm512_or_si512(
      mask_code, _mm512_or_si512(_mm512_slli_epi64(low_code, 4), _mm512_slli_epi64(high_code, 8)));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to.heads.data() + first),
                   _mm512_cvtepi64_epi16(head));
  store8(to.signs + first, _mm512_and_si512(load8(to.negative + first), load8(to.valid + first)));
  // A band without a large coefficient has no flags: none are set then.
  const __m512i count = load8(to.count + first);
  const __m512i low_count = load8(to.low_count + first);
  const __m512i low_flags =
      _mm512_maskz_mov_epi64(_mm512_test_epi64_mask(low_code, low_code), low_count);
  const __m512i high_flags =
      _mm512_maskz_sub_epi64(_mm512_test_epi64_mask(high_code, high_code), count, low_count);
  const __m512i large = load8(to.large + first);
  store8(to.flags + first,
         _mm512_or_si512(_mm512_and_si512(large, load8(to.low + first)),
                         _mm512_sllv_epi64(_mm512_srlv_epi64(large, low_count), low_flags)));
  store8(to.flag_count + first, _mm512_add_epi64(low_flags, high_flags));
  plan_fields(low_code, high_code, first, to);
  return true;
}

HWY_INLINE void put_words(const std::uint16_t* fields, int count, int width,
                          segment::BitWriter& bits) {
  for (int first = 0; first < count; first += 4) {
    std::uint64_t four;
    std::memcpy(&four, fields + first, sizeof(four));
    const int size = std::min(4, count - first) * width;
    bits.put(_pext_u64(four, 0x0001'0001'0001'0001U * ones(width)) & ones(size), size);
  }
}

/// The fields of a block whose magnitudes do not fit into bytes.
void put_wide_fields(const std::int16_t* values, std::uint64_t large, int low_large, unsigned head,
                     segment::BitWriter& bits) {
  const __m512i two = _mm512_set1_epi16(2);
  const __m512i first = _mm512_sub_epi16(_mm512_abs_epi16(_mm512_load_si512(values)), two);
  const __m512i second = _mm512_sub_epi16(_mm512_abs_epi16(_mm512_load_si512(values + 32)), two);
  const auto in_first = static_cast<__mmask32>(large);
  alignas(64) std::uint16_t fields[kBlockCoefficients + 32];
  _mm512_store_si512(fields, _mm512_maskz_compress_epi16(in_first, first));
  _mm512_storeu_si512(fields + count_ones(in_first),
                      _mm512_maskz_compress_epi16(static_cast<__mmask32>(large >> 32), second));
  put_words(fields, low_large, segment::field_width(static_cast<int>(head >> 4 & 15)), bits);
  put_words(fields + low_large, count_ones(large) - low_large,
            segment::field_width(static_cast<int>(head >> 8 & 15)), bits);
}

/// From the seventeenth field on: all of the high band.
HWY_INLINE void put_last_fields(const std::uint8_t* fields, int count, unsigned head,
                                segment::BitWriter& bits) {
  const int width = segment::field_width(static_cast<int>(head >> 8 & 15));
  for (int first = 16; first < count; first += 8) {
    const int size = std::min(8, count - first) * width;
    const std::uint64_t packed = _pext_u64(segment::load<std::uint64_t>(fields + first),
                                           0x0101'0101'0101'0101U * ones(width));
    bits.put(packed & ones(size), size);
  }
}

HWY_INLINE void put_block(const SparseBlocks& blocks, const Columns& from, std::size_t block,
                          segment::BitWriter& bits) {
  const auto count = [block](const std::uint64_t* column) {
    return static_cast<int>(column[block]);
  };
  bits.put(from.signs[block], count(from.count));
  bits.put(from.flags[block], count(from.flag_count));
  if (HWY_UNLIKELY((from.wide[block / 8] >> block % 8 & 1) != 0)) {
    const int low_large = count_ones(from.large[block] & from.low[block]);
    put_wide_fields(blocks.values[block], from.large[block], low_large, from.heads[block], bits);
    return;
  }
  // How many there are cannot be foreseen: sixteen, which are enough for most blocks, always.
  const std::uint8_t* fields = from.fields[block];
  for (std::size_t word = 0; word < 2; ++word) {
    bits.put(
        _pext_u64(segment::load<std::uint64_t>(fields + 8 * word), from.field_mask[word][block]),
        count(from.field_bits[word]));
  }
  put_last_fields(fields, count(from.field_count), from.heads[block], bits);
}

std::byte* write_blocks(const SparseBlocks& blocks, std::size_t count, std::byte* out) {
  Columns columns;
  for (std::size_t i = 0; i < count; i += 8) count_coefficients(blocks, i, columns);
  // Blocks after the last, up to a multiple of eight, are without coefficients.
  const std::size_t end = (count + 7) / 8 * 8;
  for (std::size_t i = 0; i < end; ++i) read_values(blocks.values[i], i, columns);
  for (std::size_t i = 0; i < count; i += 8) {
    if (!plan_bits(blocks, i, columns)) return nullptr;
  }
  segment::BitWriter bits(segment::write_heads(columns.heads, count, out));
  for (std::size_t i = 0; i < count; ++i) put_block(blocks, columns, i, bits);
  return segment::write_masks(blocks, columns.heads, count, bits.flush());
}

#else

HWY_INLINE int largest_of(const std::int16_t* values, std::uint64_t which) {
  int largest = 0;
  for (; which != 0; which &= which - 1) {
    largest = std::max(largest, std::abs(int{values[__builtin_ctzll(which)]}));
  }
  return largest;
}

HWY_INLINE void put_fields(const std::int16_t* values, std::uint64_t which, int code,
                           segment::BitWriter& bits) {
  for (; which != 0; which &= which - 1) {
    const int magnitude = std::abs(int{values[__builtin_ctzll(which)]});
    bits.put(static_cast<std::uint64_t>(magnitude - 2), segment::field_width(code));
  }
}

/// False when a magnitude is too large for the format.
HWY_INLINE bool put_block(const std::int16_t* values, std::uint64_t nonzero,
                          segment::BlockHead& head, segment::BitWriter& bits) {
  const int count = count_ones(nonzero);
  const int low_count = count_ones(nonzero & kLowBand);
  std::uint64_t negative = 0;
  std::uint64_t large = 0;
  for (int i = 0; i < count; ++i) {
    negative |= std::uint64_t{values[i] < 0} << i;
    large |= std::uint64_t{std::abs(int{values[i]}) > 1} << i;
  }
  const std::uint64_t low = large & ones(low_count);
  const std::uint64_t high = large & ~ones(low_count);
  const int low_largest = largest_of(values, low);
  const int high_largest = largest_of(values, high);
  if (std::max(low_largest, high_largest) > segment::kMaxMagnitude) return false;
  head = {segment::mask_code(nonzero), segment::width_code(low_largest),
          segment::width_code(high_largest)};
  bits.put(negative, count);
  // A band without a large coefficient has no flags: none are set then.
  bits.put(low, segment::count_if(head.low_code, low_count));
  bits.put(high >> low_count, segment::count_if(head.high_code, count - low_count));
  put_fields(values, low, head.low_code, bits);
  put_fields(values, high, head.high_code, bits);
  return true;
}

std::byte* write_blocks(const SparseBlocks& blocks, std::size_t count, std::byte* out) {
  segment::BlockHeads heads;
  segment::BitWriter bits(out + segment::heads_size(static_cast<int>(count)));
  for (std::size_t i = 0; i < count; ++i) {
    segment::BlockHead head;
    if (!put_block(blocks.values[i], blocks.nonzero[i], head, bits)) return nullptr;
    heads[i] = static_cast<std::uint16_t>(segment::head_of(head));
  }
  segment::write_heads(heads, count, out);
  return segment::write_masks(blocks, heads, count, bits.flush());
}

#endif

}  // namespace unstarve::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace unstarve::kernels::segment {

HWY_EXPORT(write_blocks);

std::byte* write_blocks(const SparseBlocks& blocks, std::size_t count, std::byte* out) {
  return HWY_DYNAMIC_DISPATCH(write_blocks)(blocks, count, out);
}

}  // namespace unstarve::kernels::segment
#endif  // HWY_ONCE
