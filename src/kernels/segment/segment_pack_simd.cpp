// Packing of segments, from blocks as an entropy decoder leaves them, compiled once per instruction
// set by Highway; whole blocks are made sparse first. Only AVX-512 with VBMI2, which moves bytes
// together under a mask, has a path of its own: the blocks have some seventeen coefficients, which
// the plain loops go through quickly.

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
#include "kernels/segment/sparse_block.h"

HWY_BEFORE_NAMESPACE();
namespace unstarve::kernels::HWY_NAMESPACE {

/// Bit i stands for the i-th coefficient that is not zero.
struct Signs {
  std::uint64_t negative = 0;
  std::uint64_t large = 0;  // beyond +-1
};

/// The magnitudes, less 2, of one band's large coefficients.
struct Band {
  alignas(64) std::uint8_t fields[kBlockCoefficients];  // when all fit into 7 bits
  int count = 0;
  int code = 0;  // see BlockHead
};

HWY_INLINE int count_ones(std::uint64_t bits) { return __builtin_popcountll(bits); }
/// `count` ones, at most 63.
HWY_INLINE std::uint64_t ones(int count) { return (std::uint64_t{1} << count) - 1; }

/// One by one. False when a magnitude is too large for the format.
HWY_INLINE bool find_wide_band(const SparseBlock& block, std::uint64_t which, Band& band) {
  int largest = 0;
  int at = 0;
  for (std::uint64_t rest = which; rest != 0; rest &= rest - 1, ++at) {
    const int magnitude = std::abs(int{block.values[__builtin_ctzll(rest)]});
    largest = std::max(largest, magnitude);
    band.fields[at] = static_cast<std::uint8_t>(magnitude - 2);
  }
  band.count = at;
  band.code = segment::width_code(largest);
  return largest <= segment::kMaxMagnitude;
}

#if HWY_TARGET == HWY_AVX3_DL

/// Magnitudes, those beyond 255 as 255, of all coefficients; zero after the last.
HWY_INLINE __m512i find_signs(const SparseBlock& block, Signs& signs) {
  const __m512i first = _mm512_load_si512(block.values);
  const __m512i second = _mm512_load_si512(block.values + 32);
  const std::uint64_t valid = ones(block.count);
  const __m512i one = _mm512_set1_epi16(1);
  const __m512i first_magnitudes = _mm512_abs_epi16(first);
  const __m512i second_magnitudes = _mm512_abs_epi16(second);
  signs.negative = valid & (std::uint64_t{_mm512_movepi16_mask(first)} |
                            std::uint64_t{_mm512_movepi16_mask(second)} << 32);
  signs.large = valid & (std::uint64_t{_mm512_cmpgt_epu16_mask(first_magnitudes, one)} |
                         std::uint64_t{_mm512_cmpgt_epu16_mask(second_magnitudes, one)} << 32);
  return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtusepi16_epi8(first_magnitudes)),
                            _mm512_cvtusepi16_epi8(second_magnitudes), 1);
}

HWY_INLINE int largest_byte(__m512i bytes) {
  const __m256i half =
      _mm256_max_epu8(_mm512_castsi512_si256(bytes), _mm512_extracti64x4_epi64(bytes, 1));
  __m128i rest = _mm_max_epu8(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  rest = _mm_max_epu8(rest, _mm_srli_epi16(rest, 8));
  // x86 finds the smallest of eight 16-bit words at once: that of the complements.
  const __m128i complements = _mm_andnot_si128(rest, _mm_set1_epi16(0xFF));
  return 255 - (_mm_cvtsi128_si32(_mm_minpos_epu16(complements)) & 0xFF);
}

HWY_INLINE bool find_band(const SparseBlock& block, __m512i magnitudes, std::uint64_t which,
                          Band& band) {
  const __m512i large = _mm512_maskz_compress_epi8(which, magnitudes);
  const int largest = largest_byte(large);
  if (HWY_UNLIKELY(largest > segment::kMaxNarrowMagnitude)) {
    return find_wide_band(block, which, band);
  }
  _mm512_store_si512(band.fields, _mm512_subs_epu8(large, _mm512_set1_epi8(2)));
  band.count = count_ones(which);
  band.code = segment::kNarrowCodes[static_cast<std::size_t>(largest)];
  return true;
}

#else

HWY_INLINE int find_signs(const SparseBlock& block, Signs& signs) {
  std::uint64_t negative = 0;
  std::uint64_t large = 0;
  for (int i = 0; i < block.count; ++i) {
    negative |= std::uint64_t{block.values[i] < 0} << i;
    large |= std::uint64_t{std::abs(int{block.values[i]}) > 1} << i;
  }
  signs = {negative, large};
  return 0;
}

HWY_INLINE bool find_band(const SparseBlock& block, int /*magnitudes*/, std::uint64_t which,
                          Band& band) {
  return find_wide_band(block, which, band);
}

#endif

/// The low `width` bits of eight bytes, moved together.
HWY_INLINE std::uint64_t pack_bytes(std::uint64_t bytes, int width) {
#if HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  return _pext_u64(bytes, 0x0101'0101'0101'0101U * ones(width));
#else
  std::uint64_t result = 0;
  for (int i = 0; i < 8; ++i) result |= (bytes >> (8 * i) & ones(width)) << (i * width);
  return result;
#endif
}

HWY_INLINE void put_eight(const Band& band, int first, int width, segment::BitWriter& bits) {
  const int size = std::min(8, band.count - first) * width;
  const auto bytes = segment::load<std::uint64_t>(band.fields + first);
  bits.put(pack_bytes(bytes, width) & ones(size), size);
}

HWY_INLINE void put_fields(const SparseBlock& block, std::uint64_t which, const Band& band,
                           segment::BitWriter& bits) {
  const int width = segment::field_width(band.code);
  if (HWY_LIKELY(width <= segment::kMaxNarrowWidth)) {
    put_eight(band, 0, width, bits);
    for (int first = 8; first < band.count; first += 8) put_eight(band, first, width, bits);
    return;
  }
  for (std::uint64_t rest = which; rest != 0; rest &= rest - 1) {
    const int magnitude = std::abs(int{block.values[__builtin_ctzll(rest)]});
    bits.put(static_cast<std::uint64_t>(magnitude - 2), width);
  }
}

/// One block's bits; its head is returned in `head`. False when a magnitude is too large.
HWY_INLINE bool pack_block(const SparseBlock& block, segment::BitWriter& bits,
                           segment::BlockHead& head) {
  constexpr std::uint64_t kLowBand = (std::uint64_t{1} << segment::kLowEnd) - 2;
  Signs signs;
  const auto magnitudes = find_signs(block, signs);
  const int low_count = count_ones(block.nonzero & kLowBand);
  const int high_count = block.count - low_count;
  const std::uint64_t low_large = signs.large & ones(low_count);
  const std::uint64_t high_large = signs.large & ~ones(low_count);
  Band low;
  Band high;
  if (!find_band(block, magnitudes, low_large, low) ||
      !find_band(block, magnitudes, high_large, high)) {
    return false;
  }
  bits.put(signs.negative, block.count);
  // Without a large coefficient the band has no "large" bits: none are set then.
  bits.put(low_large, segment::count_if(low.code, low_count));
  bits.put(signs.large >> low_count, segment::count_if(high.code, high_count));
  put_fields(block, low_large, low, bits);
  put_fields(block, high_large, high, bits);
  head = {segment::mask_code(block.nonzero), low.code, high.code};
  return true;
}

/// Writes everything but the DC values, from `out` on; null when a magnitude is too large.
std::byte* pack_sparse_blocks(std::span<const SparsePlane> planes, int blocks, std::byte* out) {
  segment::MaskWriter masks;
  segment::BitWriter bits(out + segment::heads_size(blocks));
  int block = 0;
  for (const SparsePlane& plane : planes) {
    for (int row = 0; row < plane.rows; ++row) {
      const SparseBlock* at = plane.blocks + row * plane.row_stride;
      for (int column = 0; column < plane.columns; ++column, ++at) {
        segment::BlockHead head;
        if (!pack_block(*at, bits, head)) return nullptr;
        segment::put_head(out, block++, head);
        masks.put(at->nonzero, head.mask_code);
      }
    }
  }
  return masks.copy_to(bits.flush());
}

}  // namespace unstarve::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace unstarve::kernels {

HWY_EXPORT(pack_sparse_blocks);

namespace {

void make_sparse(const std::int16_t* block, SparseBlock& sparse) {
  // Without branches: which coefficients are zero cannot be foreseen.
  std::uint64_t nonzero = 0;
  int count = 0;
  for (int k = 1; k < kBlockCoefficients; ++k) {
    const std::int16_t value = block[segment::kNaturalOrder[static_cast<std::size_t>(k)]];
    sparse.values[count] = value;
    nonzero |= std::uint64_t{value != 0} << k;
    count += value != 0 ? 1 : 0;
  }
  sparse.nonzero = nonzero;
  sparse.dc = block[0];
  sparse.count = static_cast<std::int16_t>(count);
}

}  // namespace

bool pack_segment(std::span<const SegmentPlane> planes, std::vector<std::byte>& out) {
  std::array<SparseBlock, std::size_t{kMaxComponents} * kMaxSegmentBlocks> blocks;
  std::array<SparsePlane, kMaxComponents> sparse;
  std::size_t next = 0;
  for (std::size_t i = 0; i < planes.size(); ++i) {
    const SegmentPlane& plane = planes[i];
    sparse[i] = {blocks.data() + next, plane.columns, plane.columns, plane.rows};
    for (int index = 0; index < plane.rows * plane.columns; ++index) {
      make_sparse(segment::block_of(plane, index), blocks[next++]);
    }
  }
  return pack_sparse_segment(std::span(sparse).first(planes.size()), out);
}

bool pack_sparse_segment(std::span<const SparsePlane> planes, std::vector<std::byte>& out) {
  // Not in `out` itself: growing it by the most that a segment can take would clear all of that.
  std::array<std::byte, segment::kSegmentBytesMax> packed;
  segment::BitWriter dc(packed.data());
  int blocks = 0;
  for (const SparsePlane& plane : planes) {
    const auto dc_of = [&](int index) {
      return int{plane.blocks[index / plane.columns * plane.row_stride + index % plane.columns].dc};
    };
    if (!segment::pack_dc(plane.rows * plane.columns, dc_of, dc)) return false;
    blocks += plane.rows * plane.columns;
  }
  const std::byte* end = HWY_DYNAMIC_DISPATCH(pack_sparse_blocks)(planes, blocks, dc.flush());
  if (end == nullptr) return false;
  const std::byte* begin = packed.data();
  out.insert(out.end(), begin, end);
  return true;
}

}  // namespace unstarve::kernels
#endif  // HWY_ONCE
