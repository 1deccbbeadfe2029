// The inverse transform, compiled once per instruction set by Highway: one, two or four blocks at a
// time, each in its own 16 bytes of the vectors.
#include "kernels/jpeg/inverse_dct.h"
#include "kernels/jpeg/inverse_dct_constants.h"

// Code below relies on vectors of a size known at compile time.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/jpeg/inverse_dct_simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first: it includes this file once per target.
#include "kernels/simd_words.h"

HWY_BEFORE_NAMESPACE();
namespace unstarve::kernels::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

// A CPU without any of the vector instructions that Highway knows.
void inverse_dct_simd(const BlockRow& row, std::uint8_t* out, std::ptrdiff_t stride) {
  for (int block = 0; block < row.count; ++block) {
    inverse_dct_plain(row.coefficients + block * kBlockSamples, row.quantisation,
                      out + block * kBlockSize, stride);
  }
}

#else

constexpr int kVectorBlocks = static_cast<int>(hn::MaxLanes(Words()) / kBlockSize);
static_assert(kBlocksAtOnce % kVectorBlocks == 0);

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
/// Four rows of each of four blocks, one block per vector -> four blocks of a row per vector.
HWY_INLINE void transpose_blocks(const std::int16_t* HWY_RESTRICT first, WordVector* rows) {
  __m512i blocks[4];
  UNSTARVE_UNROLL
  for (int i = 0; i < 4; ++i) blocks[i] = _mm512_loadu_si512(first + i * kBlockSamples);
  const __m512i even01 = _mm512_shuffle_i32x4(blocks[0], blocks[1], 0x44);
  const __m512i odd01 = _mm512_shuffle_i32x4(blocks[0], blocks[1], 0xEE);
  const __m512i even23 = _mm512_shuffle_i32x4(blocks[2], blocks[3], 0x44);
  const __m512i odd23 = _mm512_shuffle_i32x4(blocks[2], blocks[3], 0xEE);
  rows[0] = WordVector{_mm512_shuffle_i32x4(even01, even23, 0x88)};
  rows[1] = WordVector{_mm512_shuffle_i32x4(even01, even23, 0xDD)};
  rows[2] = WordVector{_mm512_shuffle_i32x4(odd01, odd23, 0x88)};
  rows[3] = WordVector{_mm512_shuffle_i32x4(odd01, odd23, 0xDD)};
}

HWY_INLINE void load_rows(const std::int16_t* HWY_RESTRICT coefficients, WordVector* rows) {
  transpose_blocks(coefficients, rows);
  transpose_blocks(coefficients + kBlockSamples / 2, rows + 4);
}
#elif HWY_TARGET == HWY_AVX2
HWY_INLINE void load_rows(const std::int16_t* HWY_RESTRICT coefficients, WordVector* rows) {
  const hn::Half<Words> half;
  UNSTARVE_UNROLL
  for (int i = 0; i < kBlockSize; ++i) {
    const std::int16_t* row = coefficients + i * kBlockSize;
    rows[i] = hn::Combine(Words(), hn::LoadU(half, row + kBlockSamples), hn::LoadU(half, row));
  }
}
#else
HWY_INLINE void load_rows(const std::int16_t* HWY_RESTRICT coefficients, WordVector* rows) {
  UNSTARVE_UNROLL
  for (int i = 0; i < kBlockSize; ++i) rows[i] = hn::LoadU(Words(), coefficients + i * kBlockSize);
}
#endif

/// The first and the second four lanes of each block, widened while they are multiplied.
struct Halves {
  QuadVector lower;
  QuadVector upper;
};

HWY_INLINE Halves operator+(Halves a, Halves b) {
  return {hn::Add(a.lower, b.lower), hn::Add(a.upper, b.upper)};
}
HWY_INLINE Halves operator-(Halves a, Halves b) {
  return {hn::Sub(a.lower, b.lower), hn::Sub(a.upper, b.upper)};
}

/// Two rows, lane by lane beside each other, so that one instruction takes factors of both.
struct Zipped {
  HWY_INLINE Zipped(WordVector a, WordVector b)
      : lower(hn::InterleaveLower(Words(), a, b)), upper(hn::InterleaveUpper(Words(), a, b)) {}
  /// a * factor_a + b * factor_b
  HWY_INLINE Halves times(int factor_a, int factor_b) const {
    const WordVector factors = word_pair(factor_a, factor_b);
    return {multiply_pairs(lower, factors), multiply_pairs(upper, factors)};
  }
  WordVector lower;
  WordVector upper;
};

template <int kShift>
HWY_INLINE WordVector descale(Halves sum) {
  return narrow_to_words(hn::ShiftRight<kShift>(sum.lower), hn::ShiftRight<kShift>(sum.upper));
}

/// Eight values per lane: v[0..7] -> v[0..7].
template <int kShift>
HWY_INLINE void transform_eight(WordVector* v) {
  // Half a unit of the result enters with the product of the first two values, as a second factor:
  // both it and 8192 must fit into 16 bits.
  constexpr int kHalf = 1 << (kShift - 1);
  constexpr int kUnit = kHalf > 8192 ? kHalf / 8192 : 1;
  const WordVector unit = hn::Set(Words(), static_cast<std::int16_t>(kUnit));
  const Halves tmp0 = Zipped(hn::Add(v[0], v[4]), unit).times(8192, kHalf / kUnit);
  const Halves tmp1 = Zipped(hn::Sub(v[0], v[4]), unit).times(8192, kHalf / kUnit);
  const Zipped z26(v[2], v[6]);
  const Halves tmp2 = z26.times(kF0541, kF0541 - kF1847);
  const Halves tmp3 = z26.times(kF0541 + kF0765, kF0541);
  const Halves even0 = tmp0 + tmp3;
  const Halves even1 = tmp1 + tmp2;
  const Halves even2 = tmp1 - tmp2;
  const Halves even3 = tmp0 - tmp3;

  const Zipped z34(hn::Add(v[7], v[3]), hn::Add(v[5], v[1]));
  const Halves z3 = z34.times(kF1175 - kF1961, kF1175);
  const Halves z4 = z34.times(kF1175, kF1175 - kF0390);
  const Zipped z71(v[7], v[1]);
  const Zipped z53(v[5], v[3]);
  const Halves odd0 = z4 + z71.times(-kF0899, kF1501 - kF0899);
  const Halves odd1 = z3 + z53.times(-kF2562, kF3072 - kF2562);
  const Halves odd2 = z4 + z53.times(kF2053 - kF2562, -kF2562);
  const Halves odd3 = z3 + z71.times(kF0298 - kF0899, -kF0899);

  v[0] = descale<kShift>(even0 + odd0);
  v[7] = descale<kShift>(even0 - odd0);
  v[1] = descale<kShift>(even1 + odd1);
  v[6] = descale<kShift>(even1 - odd1);
  v[2] = descale<kShift>(even2 + odd2);
  v[5] = descale<kShift>(even2 - odd2);
  v[3] = descale<kShift>(even3 + odd3);
  v[4] = descale<kShift>(even3 - odd3);
}

/// Transposes each block's 8x8 values. Each round rotates the address bits (vector, lane) by one.
HWY_INLINE void transpose_values(WordVector* v) {
  const Words d;
  WordVector w[8];
  UNSTARVE_UNROLL
  for (int i = 0; i < 4; ++i) {
    w[2 * i] = hn::InterleaveLower(d, v[i], v[i + 4]);
    w[2 * i + 1] = hn::InterleaveUpper(d, v[i], v[i + 4]);
  }
  UNSTARVE_UNROLL
  for (int i = 0; i < 4; ++i) {
    v[2 * i] = hn::InterleaveLower(d, w[i], w[i + 4]);
    v[2 * i + 1] = hn::InterleaveUpper(d, w[i], w[i + 4]);
  }
  UNSTARVE_UNROLL
  for (int i = 0; i < 4; ++i) {
    w[2 * i] = hn::InterleaveLower(d, v[i], v[i + 4]);
    w[2 * i + 1] = hn::InterleaveUpper(d, v[i], v[i + 4]);
  }
  UNSTARVE_UNROLL
  for (int i = 0; i < 8; ++i) v[i] = w[i];
}

/// Stores one row of all blocks: the even or the odd eight bytes of each.
#if HWY_MAX_BYTES >= 32
HWY_INLINE void store_two_rows(ByteVector v, std::uint8_t* HWY_RESTRICT out,
                               std::ptrdiff_t stride) {
  const hn::Repartition<std::uint64_t, Bytes> d64;
  const hn::Half<Bytes> half;
  const auto rows = hn::BitCast(d64, v);
  hn::StoreU(hn::LowerHalf(hn::BitCast(Bytes(), hn::ConcatEven(d64, rows, rows))), half, out);
  hn::StoreU(hn::LowerHalf(hn::BitCast(Bytes(), hn::ConcatOdd(d64, rows, rows))), half,
             out + stride);
}
#else
HWY_INLINE void store_two_rows(ByteVector v, std::uint8_t* HWY_RESTRICT out,
                               std::ptrdiff_t stride) {
  const hn::Half<Bytes> half;
  hn::StoreU(hn::LowerHalf(v), half, out);
  hn::StoreU(hn::UpperHalf(half, v), half, out + stride);
}
#endif

/// v[c] holds column c of each block -> eight rows of samples.
HWY_INLINE void store_columns(const WordVector* v, std::uint8_t* HWY_RESTRICT out,
                              std::ptrdiff_t stride) {
  const Bytes d;
  ByteVector p[4];
  UNSTARVE_UNROLL
  for (int i = 0; i < 4; ++i) p[i] = narrow_to_signed(v[2 * i], v[2 * i + 1]);
  // The address bits of a byte are (vector 2, column 1, row 3); each round rotates them by one.
  UNSTARVE_UNROLL
  for (int round = 0; round < 3; ++round) {
    const ByteVector q[4] = {hn::InterleaveLower(d, p[0], p[2]), hn::InterleaveUpper(d, p[0], p[2]),
                             hn::InterleaveLower(d, p[1], p[3]),
                             hn::InterleaveUpper(d, p[1], p[3])};
    UNSTARVE_UNROLL
    for (int i = 0; i < 4; ++i) p[i] = q[i];
  }
  const ByteVector center = hn::Set(d, std::uint8_t{0x80});
  UNSTARVE_UNROLL
  for (int i = 0; i < 4; ++i) {
    store_two_rows(hn::Xor(p[i], center), out + 2 * i * stride, stride);
  }
}

/// Whether scaling row 0 by 4 could leave 16 bits, where libjpeg-turbo's short cut for blocks
/// without other rows differs from the transform.
HWY_INLINE bool is_extreme(WordVector row0) {
  return !hn::AllTrue(Words(), hn::Eq(hn::ShiftRight<13>(row0), hn::ShiftRight<15>(row0)));
}

void inverse_dct_simd(const BlockRow& row, std::uint8_t* out, std::ptrdiff_t stride) {
  const hn::Repartition<std::int16_t, hn::Full128<std::uint8_t>> d_row;
  WordVector divisors[kBlockSize];
  UNSTARVE_UNROLL
  for (int i = 0; i < kBlockSize; ++i) {
    HWY_ALIGN std::int16_t repeated[hn::MaxLanes(Words())];
    const auto* source = reinterpret_cast<const std::int16_t*>(row.quantisation) + i * kBlockSize;
    UNSTARVE_UNROLL
    for (int block = 0; block < kVectorBlocks; ++block) {
      hn::StoreU(hn::LoadU(d_row, source), d_row, repeated + block * kBlockSize);
    }
    divisors[i] = hn::Load(Words(), repeated);
  }
  for (int block = 0; block < row.count; block += kVectorBlocks) {
    const std::int16_t* coefficients = row.coefficients + block * kBlockSamples;
    std::uint8_t* target = out + block * kBlockSize;
    WordVector v[kBlockSize];
    load_rows(coefficients, v);
    UNSTARVE_UNROLL
    for (int i = 0; i < kBlockSize; ++i) v[i] = hn::Mul(v[i], divisors[i]);
    if (HWY_UNLIKELY(is_extreme(v[0]))) {
      UNSTARVE_UNROLL
      for (int i = 0; i < kVectorBlocks; ++i) {
        inverse_dct_plain(coefficients + i * kBlockSamples, row.quantisation,
                          target + i * kBlockSize, stride);
      }
      continue;
    }
    transform_eight<kColumnShift>(v);
    transpose_values(v);
    transform_eight<kRowShift>(v);
    store_columns(v, target, stride);
  }
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace unstarve::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace unstarve::kernels {

HWY_EXPORT(inverse_dct_simd);

void inverse_dct(const BlockRow& row, std::uint8_t* out, std::ptrdiff_t stride) {
  HWY_DYNAMIC_DISPATCH(inverse_dct_simd)(row, out, stride);
}

}  // namespace unstarve::kernels
#endif  // HWY_ONCE
