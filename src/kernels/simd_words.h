// Words that Highway lacks, for files that it compiles once per instruction set: included like
// hwy/highway.h, after foreach_target.h. Vectors are those of 16, 32 or 64 bytes, and every word
// works within blocks of 16 bytes, as the x86 instructions do.
#if defined(UNSTARVE_KERNELS_SIMD_WORDS) == defined(HWY_TARGET_TOGGLE)
#ifdef UNSTARVE_KERNELS_SIMD_WORDS
#undef UNSTARVE_KERNELS_SIMD_WORDS
#else
#define UNSTARVE_KERNELS_SIMD_WORDS
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace unstarve::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// g++ keeps arrays of vectors in memory unless the loops over them are unrolled, which -O2 alone
// does not do.
#undef UNSTARVE_UNROLL
#if HWY_COMPILER_GCC_ACTUAL
#define UNSTARVE_UNROLL _Pragma("GCC unroll 16")
#else
#define UNSTARVE_UNROLL
#endif

#if HWY_TARGET != HWY_SCALAR

using Bytes = hn::ScalableTag<std::uint8_t>;
using Words = hn::ScalableTag<std::int16_t>;
using Quads = hn::ScalableTag<std::int32_t>;
using ByteVector = hn::Vec<Bytes>;
using WordVector = hn::Vec<Words>;
using QuadVector = hn::Vec<Quads>;

/// sum + a[2i] * b[2i] + a[2i+1] * b[2i+1]
HWY_INLINE QuadVector multiply_pairs(QuadVector sum, WordVector a, WordVector b) {
  QuadVector upper = hn::Zero(Quads());
  const QuadVector lower = hn::ReorderWidenMulAccumulate(Quads(), a, b, sum, upper);
  return hn::RearrangeToOddPlusEven(lower, upper);
}

HWY_INLINE QuadVector multiply_pairs(WordVector a, WordVector b) {
  return multiply_pairs(hn::Zero(Quads()), a, b);
}

/// The same pair of factors in all lanes.
HWY_INLINE WordVector word_pair(int even, int odd) {
  const auto bits =
      (static_cast<std::uint32_t>(odd) << 16) | (static_cast<std::uint32_t>(even) & 0xFFFFU);
  return hn::BitCast(Words(), hn::Set(Quads(), static_cast<std::int32_t>(bits)));
}

/// Narrows with saturation; each block takes its half of `lower`, then its half of `upper`.
HWY_INLINE WordVector narrow_to_words(QuadVector lower, QuadVector upper) {
  return hn::ReorderDemote2To(Words(), lower, upper);
}

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
HWY_INLINE ByteVector narrow_to_unsigned(WordVector lower, WordVector upper) {
  return ByteVector{_mm512_packus_epi16(lower.raw, upper.raw)};
}
HWY_INLINE ByteVector narrow_to_signed(WordVector lower, WordVector upper) {
  return ByteVector{_mm512_packs_epi16(lower.raw, upper.raw)};
}
#elif HWY_TARGET == HWY_AVX2
HWY_INLINE ByteVector narrow_to_unsigned(WordVector lower, WordVector upper) {
  return ByteVector{_mm256_packus_epi16(lower.raw, upper.raw)};
}
HWY_INLINE ByteVector narrow_to_signed(WordVector lower, WordVector upper) {
  return ByteVector{_mm256_packs_epi16(lower.raw, upper.raw)};
}
#else  // one block
HWY_INLINE ByteVector narrow_to_unsigned(WordVector lower, WordVector upper) {
  const hn::Half<Bytes> half;
  return hn::Combine(Bytes(), hn::DemoteTo(half, upper), hn::DemoteTo(half, lower));
}
HWY_INLINE ByteVector narrow_to_signed(WordVector lower, WordVector upper) {
  const hn::Half<hn::RebindToSigned<Bytes>> half;
  return hn::BitCast(Bytes(), hn::Combine(hn::RebindToSigned<Bytes>(), hn::DemoteTo(half, upper),
                                          hn::DemoteTo(half, lower)));
}
#endif

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace unstarve::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
