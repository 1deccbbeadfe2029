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

HWY_INLINE ByteVector load_windows(const std::uint8_t* row, const int* HWY_RESTRICT starts) {
#if HWY_TARGET == HWY_AVX3_DL
  return hn::LoadU(Bytes(), row + starts[0]);
#else
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
#endif
}

/// Two samples per lane, widened to 16 bits.
HWY_INLINE WordVector look_up(ByteVector windows, ByteVector lookup) {
#if HWY_TARGET == HWY_AVX3_DL
  constexpr __mmask64 kSampleBytes = 0x5555555555555555U;
  return WordVector{_mm512_maskz_permutexvar_epi8(kSampleBytes, lookup.raw, windows.raw)};
#else
  return hn::BitCast(Words(), hn::TableLookupBytesOr0(windows, lookup));
#endif
}

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

/// Bytes from a pair of samples to the next.
constexpr int kPairBytes = 2 * 3;

/// The tables of one step: kept in registers from row to row as far as there are any.
template <int kPairs>
struct StepTables {
  HWY_INLINE StepTables(const WindowTable& table, int step) {
    const int first_unit = step * kWindowUnits;
    const auto* lookup =
        reinterpret_cast<const std::uint8_t*>(table.lookup + first_unit * kUnitLanes);
    const auto* from =
        reinterpret_cast<const std::int16_t*>(table.weights + first_unit * kPairs * kUnitLanes);
    UNSTARVE_UNROLL
    for (int unit = 0; unit < kWindowUnits; ++unit) {
      offsets[unit] = hn::Load(Bytes(), lookup + unit * 4 * kUnitLanes);
      UNSTARVE_UNROLL
      for (int pair = 0; pair < kPairs; ++pair) {
        weights[unit * kPairs + pair] =
            hn::Load(Words(), from + (unit * kPairs + pair) * 2 * kUnitLanes);
      }
    }
  }
  ByteVector offsets[kWindowUnits];
  WordVector weights[kWindowUnits * kPairs];
};

/// For tables of few pairs: one load per pair, or one for all where kOneWindow.
template <int kPairs, bool kOneWindow>
HWY_NOINLINE void pass_rows(const WindowTable& table, const std::uint8_t* const* rows, int count,
                            std::uint8_t* const* out_rows) {
  const QuadVector half = hn::Set(Quads(), 1 << (table.shift - 1));
  for (int step = 0; step < table.steps; ++step) {
    const StepTables<kPairs> tables(table, step);
    const int* HWY_RESTRICT starts = table.starts.data() + step * kWindowUnits * kUnitWindows;
    for (int row = 0; row < count; ++row) {
      QuadVector sums[kWindowUnits];
      UNSTARVE_UNROLL
      for (int unit = 0; unit < kWindowUnits; ++unit) {
        QuadVector sum = half;
        ByteVector windows = load_windows(rows[row], starts + unit * kUnitWindows);
        UNSTARVE_UNROLL
        for (int pair = 0; pair < kPairs; ++pair) {
          ByteVector offsets = tables.offsets[unit];
          if (kOneWindow) {
            offsets =
                hn::Add(offsets, hn::Set(Bytes(), static_cast<std::uint8_t>(pair * kPairBytes)));
          } else if (pair > 0) {
            windows = load_windows(rows[row] + pair * kPairBytes, starts + unit * kUnitWindows);
          }
          sum =
              multiply_pairs(sum, look_up(windows, offsets), tables.weights[unit * kPairs + pair]);
        }
        sums[unit] = hn::ShiftRightSame(sum, table.shift);
      }
      hn::StoreU(narrow_in_order(sums), Bytes(), out_rows[row] + step * kWindowUnits * kUnitLanes);
    }
  }
}

/// For tables of any number of pairs.
HWY_NOINLINE void pass_rows_of_many_pairs(const WindowTable& table, const std::uint8_t* const* rows,
                                          int count, std::uint8_t* const* out_rows) {
  const QuadVector half = hn::Set(Quads(), 1 << (table.shift - 1));
  for (int step = 0; step < table.steps; ++step) {
    for (int row = 0; row < count; ++row) {
      QuadVector sums[kWindowUnits];
      UNSTARVE_UNROLL
      for (int unit = 0; unit < kWindowUnits; ++unit) {
        const int index = step * kWindowUnits + unit;
        const ByteVector offsets = hn::Load(
            Bytes(), reinterpret_cast<const std::uint8_t*>(table.lookup + index * kUnitLanes));
        const auto* weights = reinterpret_cast<const std::int16_t*>(
            table.weights + std::ptrdiff_t{index} * table.pairs * kUnitLanes);
        QuadVector sum = half;
        for (int pair = 0; pair < table.pairs; ++pair) {
          const ByteVector windows = load_windows(rows[row] + pair * kPairBytes,
                                                  table.starts.data() + index * kUnitWindows);
          sum = multiply_pairs(sum, look_up(windows, offsets),
                               hn::Load(Words(), weights + pair * 2 * kUnitLanes));
        }
        sums[unit] = hn::ShiftRightSame(sum, table.shift);
      }
      hn::StoreU(narrow_in_order(sums), Bytes(), out_rows[row] + step * kWindowUnits * kUnitLanes);
    }
  }
}

template <int kPairs>
void pass_rows_of_few_pairs(const WindowTable& table, const std::uint8_t* const* rows, int count,
                            std::uint8_t* const* out_rows) {
  if (table.one_window) return pass_rows<kPairs, true>(table, rows, count, out_rows);
  return pass_rows<kPairs, false>(table, rows, count, out_rows);
}

void window_pass_simd(const WindowTable& table, const std::uint8_t* const* rows, int count,
                      std::uint8_t* const* out_rows) {
  switch (table.pairs) {
    case 1: return pass_rows_of_few_pairs<1>(table, rows, count, out_rows);
    case 2: return pass_rows_of_few_pairs<2>(table, rows, count, out_rows);
    case 3: return pass_rows_of_few_pairs<3>(table, rows, count, out_rows);
    default: return pass_rows_of_many_pairs(table, rows, count, out_rows);
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
