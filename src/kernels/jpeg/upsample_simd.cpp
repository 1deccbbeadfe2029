// Fancy upsampling, compiled once per instruction set by Highway.
#include "kernels/jpeg/upsample.h"

// Code below relies on vectors of a size known at compile time.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/jpeg/upsample_simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first: it includes this file once per target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace unstarve::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

void h2v1_simd(const std::uint8_t* row, int count, std::uint8_t* out) {
  upsample_h2v1_plain(row, count, out);
}
void h2v2_simd(const RowPair& rows, int count, std::uint8_t* out) {
  upsample_h2v2_plain(rows, count, out);
}
void h1v2_simd(const RowPair& rows, RowHalf half, int count, std::uint8_t* out) {
  upsample_h1v2_plain(rows, half, count, out);
}

#else

// Samples are widened to 16 bits.
using Wide = hn::ScalableTag<std::uint16_t>;
using WideVector = hn::Vec<Wide>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Wide()));
static_assert(2 * kLanes <= kUpsampleSlack);

HWY_INLINE WideVector load_wide(const std::uint8_t* from) {
  const hn::Rebind<std::uint8_t, Wide> d_byte;
  return hn::PromoteTo(Wide(), hn::LoadU(d_byte, from));
}

HWY_INLINE WideVector times_three(WideVector v) { return hn::Add(v, hn::Add(v, v)); }

HWY_INLINE WideVector constant(int value) {
  return hn::Set(Wide(), static_cast<std::uint16_t>(value));
}

/// Values below 256 to alternating bytes.
HWY_INLINE void store_zipped(WideVector even, WideVector odd, std::uint8_t* out) {
  const hn::Repartition<std::uint8_t, Wide> d_byte;
  hn::StoreU(hn::BitCast(d_byte, hn::Or(even, hn::ShiftLeft<8>(odd))), d_byte, out);
}

void h2v1_simd(const std::uint8_t* HWY_RESTRICT row, int count, std::uint8_t* HWY_RESTRICT out) {
  for (int i = 0; i < count; i += kLanes) {
    const WideVector nearer = times_three(load_wide(row + i));
    const WideVector left = hn::Add(load_wide(row + i - 1), constant(1));
    const WideVector right = hn::Add(load_wide(row + i + 1), constant(2));
    store_zipped(hn::ShiftRight<2>(hn::Add(nearer, left)),
                 hn::ShiftRight<2>(hn::Add(nearer, right)), out + 2 * i);
  }
}

void h2v2_simd(const RowPair& rows, int count, std::uint8_t* HWY_RESTRICT out) {
  const std::uint8_t* HWY_RESTRICT nearer_row = rows.nearer;
  const std::uint8_t* HWY_RESTRICT farther_row = rows.farther;
  const auto column = [=](int i) HWY_ATTR {
    return hn::Add(times_three(load_wide(nearer_row + i)), load_wide(farther_row + i));
  };
  for (int i = 0; i < count; i += kLanes) {
    const WideVector nearer = times_three(column(i));
    const WideVector left = hn::Add(column(i - 1), constant(8));
    const WideVector right = hn::Add(column(i + 1), constant(7));
    store_zipped(hn::ShiftRight<4>(hn::Add(nearer, left)),
                 hn::ShiftRight<4>(hn::Add(nearer, right)), out + 2 * i);
  }
}

void h1v2_simd(const RowPair& rows, RowHalf half, int count, std::uint8_t* HWY_RESTRICT out) {
  const hn::Rebind<std::uint8_t, Wide> d_byte;
  const hn::RebindToSigned<Wide> d_signed;
  const WideVector bias = constant(half == RowHalf::kUpper ? 1 : 2);
  for (int i = 0; i < count; i += kLanes) {
    const WideVector sum = hn::Add(times_three(load_wide(rows.nearer + i)),
                                   hn::Add(load_wide(rows.farther + i), bias));
    const auto samples = hn::BitCast(d_signed, hn::ShiftRight<2>(sum));
    hn::StoreU(hn::DemoteTo(d_byte, samples), d_byte, out + i);
  }
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace unstarve::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace unstarve::kernels {

HWY_EXPORT(h2v1_simd);
HWY_EXPORT(h2v2_simd);
HWY_EXPORT(h1v2_simd);

void upsample_h2v1(const std::uint8_t* row, int count, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(h2v1_simd)(row, count, out);
}

void upsample_h2v2(const RowPair& rows, int count, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(h2v2_simd)(rows, count, out);
}

void upsample_h1v2(const RowPair& rows, RowHalf half, int count, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(h1v2_simd)(rows, half, count, out);
}

}  // namespace unstarve::kernels
#endif  // HWY_ONCE
