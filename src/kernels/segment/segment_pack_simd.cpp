// Packing of segments, compiled once per instruction set by Highway. As in segment_simd.cpp, what
// Highway 1.0.3 has no words for - extracting bits (pext), compressing bytes under a mask - is x86
// intrinsics inside the guards of the targets that have them.

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

#include "kernels/segment/segment_pack.h"

HWY_BEFORE_NAMESPACE();
namespace unstarve::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#undef UNSTARVE_HAVE_EXTRACT
#if HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
#define UNSTARVE_HAVE_EXTRACT 1
#else
#define UNSTARVE_HAVE_EXTRACT 0
#endif

constexpr std::uint64_t kLowBand = (std::uint64_t{1} << segment::kLowEnd) - 2;

/// The bits of `bits` that `mask` selects, moved together.
HWY_INLINE std::uint64_t extract(std::uint64_t bits, std::uint64_t mask) {
#if UNSTARVE_HAVE_EXTRACT
  return _pext_u64(bits, mask);
#else
  std::uint64_t result = 0;
  for (int at = 0; mask != 0; mask &= mask - 1, ++at) {
    const std::uint64_t lowest = mask & (~mask + 1);
    result |= std::uint64_t{(bits & lowest) != 0} << at;
  }
  return result;
#endif
}

HWY_INLINE int count_bits(std::uint64_t bits) { return __builtin_popcountll(bits); }

/// A block's AC coefficients in zigzag order.
struct ZigzagBlock {
  alignas(64) std::int16_t values[kBlockCoefficients];
  std::uint64_t nonzero = 0;  // bit k: position k
  std::uint64_t negative = 0;
  std::uint64_t large = 0;  // beyond +-1
};

HWY_INLINE void to_zigzag(const std::int16_t* HWY_RESTRICT block, ZigzagBlock& zigzag) {
#if HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX3
  const __m512i upper = _mm512_loadu_si512(block);
  const __m512i lower = _mm512_loadu_si512(block + 32);
  for (int half = 0; half < 2; ++half) {
    const __m512i order = _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(
        segment::kNaturalOrder.data() + std::ptrdiff_t{32} * half)));
    _mm512_store_si512(zigzag.values + std::ptrdiff_t{32} * half,
                       _mm512_permutex2var_epi16(upper, order, lower));
  }
#else
  for (std::size_t k = 0; k < kBlockCoefficients; ++k) {
    zigzag.values[k] = block[segment::kNaturalOrder[k]];
  }
#endif
}

HWY_INLINE void find_masks(ZigzagBlock& zigzag) {
#if HWY_TARGET == HWY_SCALAR
  zigzag.nonzero = zigzag.negative = zigzag.large = 0;
  for (int k = 1; k < kBlockCoefficients; ++k) {
    const int value = zigzag.values[k];
    zigzag.nonzero |= std::uint64_t{value != 0} << k;
    zigzag.negative |= std::uint64_t{value < 0} << k;
    zigzag.large |= std::uint64_t{std::abs(value) > 1} << k;
  }
#else
  const hn::CappedTag<std::int16_t, 32> d;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(d));
  const auto zero = hn::Zero(d);
  const auto one = hn::Set(d, 1);
  std::uint64_t is_zero = 0;
  std::uint64_t negative = 0;
  std::uint64_t large = 0;
  const auto bits_of = [&](auto mask, int first) {
    std::uint64_t bits = 0;
    hn::StoreMaskBits(d, mask, reinterpret_cast<std::uint8_t*>(&bits));
    return bits << first;
  };
  for (int first = 0; first < kBlockCoefficients; first += kLanes) {
    const auto values = hn::Load(d, zigzag.values + first);
    is_zero |= bits_of(hn::Eq(values, zero), first);
    negative |= bits_of(hn::Lt(values, zero), first);
    // The absolute value of -32768 is itself, and beyond 1 as its bits without a sign.
    large |= bits_of(
        hn::Or(hn::Gt(hn::Abs(values), one), hn::Eq(hn::Abs(values), hn::Set(d, -32768))), first);
  }
  zigzag.nonzero = ~is_zero & ~std::uint64_t{1};
  zigzag.negative = negative & zigzag.nonzero;
  zigzag.large = large & zigzag.nonzero;
#endif
}

/// The magnitudes, less 2, of one band's large coefficients.
struct Band {
  alignas(64) std::uint8_t fields[kBlockCoefficients];  // when all fit into 7 bits
  int count = 0;
  int code = 0;  // see BlockHead
};

/// Finds the width, and the fields unless they are wide. False when one is too large.
HWY_INLINE bool find_band(const ZigzagBlock& zigzag, std::uint64_t positions, Band& band) {
  // No branch on whether there are any: that cannot be foreseen.
  band.count = count_bits(positions);
  int largest = 0;
#if HWY_TARGET == HWY_AVX3_DL
  const auto* values = zigzag.values;
  const __m512i low = _mm512_abs_epi16(_mm512_load_si512(values));
  const __m512i high = _mm512_abs_epi16(_mm512_load_si512(values + 32));
  const __m512i bytes = _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtusepi16_epi8(low)),
                                           _mm512_cvtusepi16_epi8(high), 1);
  const __m512i magnitudes = _mm512_maskz_compress_epi8(positions, bytes);
  const __m512i wide = _mm512_max_epu8(magnitudes, _mm512_alignr_epi64(magnitudes, magnitudes, 4));
  const __m256i half = _mm512_castsi512_si256(wide);
  __m128i rest = _mm_max_epu8(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  rest = _mm_max_epu8(rest, _mm_srli_epi16(rest, 8));
  // x86 finds the smallest of eight 16-bit words at once: that of the complements.
  const __m128i complements = _mm_andnot_si128(rest, _mm_set1_epi16(0xFF));
  largest = 255 - (_mm_cvtsi128_si32(_mm_minpos_epu16(complements)) & 0xFF);
  _mm512_store_si512(band.fields, _mm512_subs_epu8(magnitudes, _mm512_set1_epi8(2)));
  if (HWY_LIKELY(largest <= segment::kMaxNarrowMagnitude)) {
    band.code = segment::kNarrowCodes[static_cast<std::size_t>(largest)];
    return true;
  }
#endif
  largest = 0;
  int at = 0;
  for (std::uint64_t rest = positions; rest != 0; rest &= rest - 1, ++at) {
    const int magnitude = std::abs(int{zigzag.values[__builtin_ctzll(rest)]});
    largest = std::max(largest, magnitude);
    band.fields[at] = static_cast<std::uint8_t>(magnitude - 2);
  }
  band.code = segment::width_code(largest);
  return largest <= segment::kMaxMagnitude;
}

/// Eight fields from `first` on, or as many as there are, at most 56 bits.
HWY_INLINE void put_eight(const Band& band, int first, int width, segment::BitWriter& bits) {
  const std::uint64_t field_bits = 0x0101'0101'0101'0101U * ((std::uint64_t{1} << width) - 1U);
  const std::uint64_t packed =
      extract(segment::load<std::uint64_t>(band.fields + first), field_bits);
  const int size = std::min(8, band.count - first) * width;
  bits.put(packed & ((std::uint64_t{1} << size) - 1), size);
}

HWY_INLINE void put_fields(const ZigzagBlock& zigzag, std::uint64_t positions, const Band& band,
                           segment::BitWriter& bits) {
  const int width = segment::field_width(band.code);
  if (HWY_LIKELY(width <= segment::kMaxNarrowWidth)) {
    put_eight(band, 0, width, bits);
    for (int first = 8; first < band.count; first += 8) put_eight(band, first, width, bits);
    return;
  }
  for (std::uint64_t rest = positions; rest != 0; rest &= rest - 1) {
    const int magnitude = std::abs(int{zigzag.values[__builtin_ctzll(rest)]});
    bits.put(static_cast<std::uint64_t>(magnitude - 2), width);
  }
}

/// One block's bits; its head is returned in `head`. False when a magnitude is too large.
HWY_INLINE bool pack_block(const std::int16_t* block, segment::BitWriter& bits,
                           segment::BlockHead& head, std::uint64_t& nonzero) {
  ZigzagBlock zigzag;
  to_zigzag(block, zigzag);
  find_masks(zigzag);
  Band low;
  Band high;
  const std::uint64_t low_large = zigzag.large & kLowBand;
  const std::uint64_t high_large = zigzag.large & ~kLowBand;
  if (!find_band(zigzag, low_large, low) || !find_band(zigzag, high_large, high)) return false;
  nonzero = zigzag.nonzero;
  bits.put(extract(zigzag.negative, nonzero), count_bits(nonzero));
  const std::uint64_t low_nonzero = nonzero & kLowBand;
  const std::uint64_t high_nonzero = nonzero & ~kLowBand;
  // Without a large coefficient the band has no "large" bits: none are set then.
  bits.put(extract(low_large, low_nonzero), segment::count_if(low.code, count_bits(low_nonzero)));
  bits.put(extract(high_large, high_nonzero),
           segment::count_if(high.code, count_bits(high_nonzero)));
  put_fields(zigzag, low_large, low, bits);
  put_fields(zigzag, high_large, high, bits);
  head = {segment::mask_code(nonzero), low.code, high.code};
  return true;
}

/// Writes everything but the DC values, from `out` on; null when a magnitude is too large.
std::byte* pack_blocks(std::span<const SegmentPlane> planes, int blocks, std::byte* out) {
  segment::MaskWriter masks;
  segment::BitWriter bits(out + segment::heads_size(blocks));
  int block = 0;
  for (const SegmentPlane& plane : planes) {
    for (int row = 0; row < plane.rows; ++row) {
      const std::int16_t* at = plane.coefficients + row * plane.row_stride;
      for (int column = 0; column < plane.columns; ++column, at += kBlockCoefficients) {
        segment::BlockHead head;
        std::uint64_t nonzero = 0;
        if (!pack_block(at, bits, head, nonzero)) return nullptr;
        segment::put_head(out, block++, head);
        masks.put(nonzero, head.mask_code);
      }
    }
  }
  return masks.copy_to(bits.flush());
}

}  // namespace unstarve::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace unstarve::kernels {

HWY_EXPORT(pack_blocks);

bool pack_segment(std::span<const SegmentPlane> planes, std::vector<std::byte>& out) {
  // Not in `out` itself: growing it by the most that a segment can take would clear all of that.
  std::array<std::byte, segment::kSegmentBytesMax> packed;
  segment::BitWriter dc(packed.data());
  int blocks = 0;
  for (const SegmentPlane& plane : planes) {
    if (!segment::pack_dc(plane, dc)) return false;
    blocks += plane.rows * plane.columns;
  }
  const std::byte* end = HWY_DYNAMIC_DISPATCH(pack_blocks)(planes, blocks, dc.flush());
  if (end == nullptr) return false;
  const std::byte* begin = packed.data();
  out.insert(out.end(), begin, end);
  return true;
}

}  // namespace unstarve::kernels
#endif  // HWY_ONCE
