// The horizontal pass by table lookups, compiled once per instruction set by Highway.
#include "kernels/window_pass.h"

#define HWY_WANT_AVX3_DL
// Code below relies on vectors of a size known at compile time.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/window_pass_simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first: it includes this file once per target.
#include "kernels/simd_words.h"

HWY_BEFORE_NAMESPACE();
namespace unstarve::kernels::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

WindowShape window_shape_simd() { return {}; }
void window_pass_simd(const WindowTable& /*table*/, const std::uint8_t* const* /*rows*/,
                      int /*count*/, std::uint8_t* const* /*out_rows*/) {}

#else

constexpr int kUnitLanes = static_cast<int>(hn::MaxLanes(Quads()));

// AVX3_DL is the first to look up bytes anywhere in a vector; the others do it within 16 bytes.
#if HWY_TARGET == HWY_AVX3_DL
constexpr int kWindowLanes = kUnitLanes;
#else
constexpr int kWindowLanes = 4;
#endif
constexpr int kWindowBytes = 4 * kWindowLanes;
constexpr int kUnitWindows = kUnitLanes / kWindowLanes;

WindowShape window_shape_simd() { return {kUnitLanes, kWindowLanes, kWindowBytes}; }

#if HWY_TARGET == HWY_AVX3_DL
HWY_INLINE WordVector look_up(const std::uint8_t* row, const int* HWY_RESTRICT starts,
                              ByteVector lookup) {
  constexpr __mmask64 kSampleBytes = 0x5555555555555555U;
  return WordVector{
      _mm512_maskz_permutexvar_epi8(kSampleBytes, lookup.raw, _mm512_loadu_si512(row + starts[0]))};
}
#else
HWY_INLINE ByteVector load_windows(const std::uint8_t* row, const int* HWY_RESTRICT starts) {
  const hn::Full128<std::uint8_t> block;
#if HWY_TARGET == HWY_AVX3
  return ByteVector{_mm512_inserti32x4(
      _mm512_inserti32x4(
          _mm512_inserti32x4(_mm512_castsi128_si512(hn::LoadU(block, row + starts[0]).raw),
                             hn::LoadU(block, row + starts[1]).raw, 1),
          hn::LoadU(block, row + starts[2]).raw, 2),
      hn::LoadU(block, row + starts[3]).raw, 3)};
#elif HWY_TARGET == HWY_AVX2
  return hn::Combine(Bytes(), hn::LoadU(block, row + starts[1]), hn::LoadU(block, row + starts[0]));
#else
  return hn::LoadU(block, row + starts[0]);
#endif
}
HWY_INLINE WordVector look_up(const std::uint8_t* row, const int* HWY_RESTRICT starts,
                              ByteVector lookup) {
  return hn::BitCast(Words(), hn::TableLookupBytesOr0(load_windows(row, starts), lookup));
}
#endif

/// Narrows four vectors of sums, in the order of their lanes.
HWY_INLINE ByteVector narrow_in_order(const QuadVector* sums) {
  const ByteVector bytes =
      narrow_to_unsigned(narrow_to_words(sums[0], sums[1]), narrow_to_words(sums[2], sums[3]));
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return ByteVector{_mm512_permutexvar_epi32(order, bytes.raw)};
#elif HWY_TARGET == HWY_AVX2
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  return ByteVector{_mm256_permutevar8x32_epi32(bytes.raw, order)};
#else
  return bytes;
#endif
}

/// kPairs: the table's, known to the compiler, or 0.
template <int kPairs>
HWY_NOINLINE void pass_rows(const WindowTable& table, const std::uint8_t* const* rows, int count,
                            std::uint8_t* const* out_rows) {
  const int pairs = kPairs != 0 ? kPairs : table.pairs;
  const QuadVector half = hn::Set(Quads(), 1 << (table.shift - 1));
  for (int step = 0; step < table.steps; ++step) {
    const int first_unit = step * kWindowUnits;
    const auto* HWY_RESTRICT lookup =
        reinterpret_cast<const std::uint8_t*>(table.lookup + first_unit * kUnitLanes);
    const auto* HWY_RESTRICT weights = reinterpret_cast<const std::int16_t*>(
        table.weights + std::ptrdiff_t{first_unit} * pairs * kUnitLanes);
    const int* HWY_RESTRICT starts = table.starts.data() + first_unit * kUnitWindows;
    for (int row = 0; row < count; ++row) {
      const std::uint8_t* HWY_RESTRICT source = rows[row];
      QuadVector sums[kWindowUnits];
      UNSTARVE_UNROLL
      for (int unit = 0; unit < kWindowUnits; ++unit) {
        const ByteVector offsets = hn::Load(Bytes(), lookup + unit * 4 * kUnitLanes);
        const std::int16_t* HWY_RESTRICT weight = weights + unit * pairs * 2 * kUnitLanes;
        QuadVector sum = half;
        for (int pair = 0; pair < pairs; ++pair) {
          const WordVector samples =
              look_up(source + pair * 2 * 3, starts + unit * kUnitWindows, offsets);
          sum = multiply_pairs(sum, samples, hn::Load(Words(), weight + pair * 2 * kUnitLanes));
        }
        sums[unit] = hn::ShiftRightSame(sum, table.shift);
      }
      hn::StoreU(narrow_in_order(sums), Bytes(), out_rows[row] + step * kWindowUnits * kUnitLanes);
    }
  }
}

void window_pass_simd(const WindowTable& table, const std::uint8_t* const* rows, int count,
                      std::uint8_t* const* out_rows) {
  switch (table.pairs) {
    case 1: return pass_rows<1>(table, rows, count, out_rows);
    case 2: return pass_rows<2>(table, rows, count, out_rows);
    case 3: return pass_rows<3>(table, rows, count, out_rows);
    case 4: return pass_rows<4>(table, rows, count, out_rows);
    default: return pass_rows<0>(table, rows, count, out_rows);
  }
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace unstarve::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace unstarve::kernels {

HWY_EXPORT(window_shape_simd);
HWY_EXPORT(window_pass_simd);

WindowShape window_shape() { return HWY_DYNAMIC_DISPATCH(window_shape_simd)(); }

void window_pass(const WindowTable& table, const std::uint8_t* const* rows, int count,
                 std::uint8_t* const* out_rows) {
  HWY_DYNAMIC_DISPATCH(window_pass_simd)(table, rows, count, out_rows);
}

}  // namespace unstarve::kernels
#endif  // HWY_ONCE
