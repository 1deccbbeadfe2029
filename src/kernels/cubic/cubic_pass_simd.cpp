// The passes of the bicubic resize in SIMD, compiled once per instruction set by Highway.
#include <cstring>

#include "kernels/cubic/cubic_pass.h"
#include "kernels/resize.h"

// Code below relies on vectors of a size known at compile time.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cubic/cubic_pass_simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first: it includes this file once per target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace unstarve::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

// A CPU without any of the vector instructions that Highway knows.
void cubic_row_simd(const std::uint8_t* row, const CubicAxis& axis, std::uint8_t* out) {
  cubic_row_plain(row, axis, out);
}
void cubic_blend_simd(const CubicBlend& blend, std::uint8_t* out) { cubic_blend_plain(blend, out); }

#else

/// Two neighbouring 16-bit weights in every 32-bit lane.
template <class Tag16>
HWY_INLINE hn::Vec<Tag16> weight_pair(Tag16 d16, const std::int16_t* weights) {
  std::int32_t pair;
  std::memcpy(&pair, weights, sizeof(pair));
  const hn::Repartition<std::int32_t, Tag16> d32;
  return hn::BitCast(d16, hn::Set(d32, pair));
}

/// Each output looks the samples of two taps up as pairs of 16 bits, one pair per channel, and one
/// instruction multiplies and adds them.
void cubic_row_simd(const std::uint8_t* row, const CubicAxis& axis, std::uint8_t* out) {
  const hn::Full128<std::uint8_t> d8;
  const hn::Full128<std::int16_t> d16;
  const hn::Full128<std::int32_t> d32;
  const hn::Full32<std::uint8_t> d_pixel;
  // R0 R1, G0 G1, B0 B1, each byte widened by a zero (0x80 stands for none).
  alignas(16) static constexpr std::uint8_t kPairs[16] = {0, 0x80, 3, 0x80, 1,    0x80, 4,    0x80,
                                                          2, 0x80, 5, 0x80, 0x80, 0x80, 0x80, 0x80};
  const auto pairs = hn::Load(d8, kPairs);
  const auto half = hn::Set(d32, (1 << axis.shift) / 2);
  for (int output = 0; output < axis.count; ++output) {
    const auto index = static_cast<std::size_t>(output);
    const std::int16_t* weights = axis.weights_of(output);
    const std::uint8_t* source = row + std::ptrdiff_t{axis.first[index]} * kChannels;
    auto sum = half;
    auto more = hn::Zero(d32);
    // Past an odd number of taps the weight is zero, and what is read lies in the row's padding.
    for (int tap = 0; tap < axis.taps[index]; tap += 2) {
      const auto bytes = hn::LoadU(d8, source + tap * kChannels);
      const auto samples = hn::BitCast(d16, hn::TableLookupBytesOr0(bytes, pairs));
      sum = hn::ReorderWidenMulAccumulate(d32, samples, weight_pair(d16, weights + tap), sum, more);
    }
    sum = hn::ShiftRightSame(hn::RearrangeToOddPlusEven(sum, more), axis.shift);
    hn::StoreU(hn::DemoteTo(d_pixel, sum), d_pixel, out + output * kChannels);
  }
}

/// As many bytes as there are 16-bit lanes.
HWY_INLINE void blend_vector(const CubicBlend& blend, int byte, std::uint8_t* out) {
  const hn::ScalableTag<std::int16_t> d16;
  const hn::Repartition<std::int32_t, decltype(d16)> d32;
  const hn::Rebind<std::uint8_t, decltype(d16)> d8;
  const auto half = hn::Set(d32, (1 << blend.shift) / 2);
  auto lower = half;
  auto upper = half;
  auto more_lower = hn::Zero(d32);
  auto more_upper = hn::Zero(d32);
  for (int tap = 0; tap < blend.taps; tap += 2) {
    // A last tap without a partner is its own, with a weight of zero.
    const int partner = tap + 1 < blend.taps ? tap + 1 : tap;
    const auto a = hn::PromoteTo(d16, hn::LoadU(d8, blend.rows[tap] + byte));
    const auto b = hn::PromoteTo(d16, hn::LoadU(d8, blend.rows[partner] + byte));
    const auto weights = weight_pair(d16, blend.weights + tap);
    lower = hn::ReorderWidenMulAccumulate(d32, hn::InterleaveLower(d16, a, b), weights, lower,
                                          more_lower);
    upper = hn::ReorderWidenMulAccumulate(d32, hn::InterleaveUpper(d16, a, b), weights, upper,
                                          more_upper);
  }
  lower = hn::ShiftRightSame(hn::RearrangeToOddPlusEven(lower, more_lower), blend.shift);
  upper = hn::ShiftRightSame(hn::RearrangeToOddPlusEven(upper, more_upper), blend.shift);
  // Interleaving and narrowing both work within blocks, so that the order comes out right.
  const auto both = hn::ReorderDemote2To(d16, lower, upper);
  hn::StoreU(hn::DemoteTo(d8, both), d8, out + byte);
}

void cubic_blend_simd(const CubicBlend& blend, std::uint8_t* out) {
  const int lanes = static_cast<int>(hn::Lanes(hn::ScalableTag<std::int16_t>()));
  if (blend.bytes < lanes) return cubic_blend_plain(blend, out);
  int byte = 0;
  for (; byte + lanes <= blend.bytes; byte += lanes) blend_vector(blend, byte, out);
  // The rest overlaps with what is already written, with the same values.
  if (byte < blend.bytes) blend_vector(blend, blend.bytes - lanes, out);
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace unstarve::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace unstarve::kernels {

HWY_EXPORT(cubic_row_simd);
HWY_EXPORT(cubic_blend_simd);

void cubic_row(const std::uint8_t* row, const CubicAxis& axis, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(cubic_row_simd)(row, axis, out);
}

void cubic_blend(const CubicBlend& blend, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(cubic_blend_simd)(blend, out);
}

}  // namespace unstarve::kernels
#endif  // HWY_ONCE
