// Colour conversion, compiled once per instruction set by Highway.
#include "kernels/jpeg/colour.h"

// Code below relies on vectors of a size known at compile time.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/jpeg/colour_simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first: it includes this file once per target.
#include "kernels/simd_words.h"

HWY_BEFORE_NAMESPACE();
namespace unstarve::kernels::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

void ycc_to_rgb_simd(const PlaneRows& rows, int count, std::uint8_t* out) {
  ycc_to_rgb_plain(rows, count, out);
}
void planes_to_rgb_simd(const PlaneRows& rows, int count, std::uint8_t* out) {
  planes_to_rgb_plain(rows, count, out);
}

#else

constexpr int kLanes = static_cast<int>(hn::MaxLanes(Bytes()));
static_assert(kLanes <= kColourReadSlack && 3 * kLanes <= kColourWriteSlack);

struct RgbWords {
  WordVector red;
  WordVector green;
  WordVector blue;
};

HWY_INLINE WordVector word(int value) { return hn::Set(Words(), static_cast<std::int16_t>(value)); }

/// (factor * v + 2^15) >> 16 for a factor within 16 bits: the product is doubled, so that its upper
/// half keeps the bit that decides the rounding.
HWY_INLINE WordVector scaled(WordVector v, int factor) {
  const WordVector high = hn::MulHigh(hn::Add(v, v), word(factor));
  return hn::ShiftRight<1>(hn::Add(high, word(1)));
}

/// Factors beyond 16 bits are split into one within them and a multiple of 2^16, which adds the
/// value itself: 91881 = 65536 + 26345, 116130 = 2 * 65536 - 14942, -46802 = 18734 - 65536.
HWY_INLINE RgbWords convert(WordVector y, WordVector cb, WordVector cr) {
  const WordVector red = hn::Add(scaled(cr, 26345), cr);
  const WordVector blue = hn::Add(scaled(cb, -14942), hn::Add(cb, cb));
  const WordVector factors = word_pair(-22554, 18734);
  const QuadVector half = hn::Set(Quads(), 1 << 15);
  const QuadVector lower = multiply_pairs(half, hn::InterleaveLower(Words(), cb, cr), factors);
  const QuadVector upper = multiply_pairs(half, hn::InterleaveUpper(Words(), cb, cr), factors);
  const WordVector green =
      hn::Sub(narrow_to_words(hn::ShiftRight<16>(lower), hn::ShiftRight<16>(upper)), cr);
  return {hn::Add(y, red), hn::Add(y, green), hn::Add(y, blue)};
}

HWY_INLINE WordVector lower_words(ByteVector v) {
  return hn::BitCast(Words(), hn::InterleaveLower(Bytes(), v, hn::Zero(Bytes())));
}
HWY_INLINE WordVector upper_words(ByteVector v) {
  return hn::BitCast(Words(), hn::InterleaveUpper(Bytes(), v, hn::Zero(Bytes())));
}

void ycc_to_rgb_simd(const PlaneRows& rows, int count, std::uint8_t* HWY_RESTRICT out) {
  const Bytes d;
  const WordVector center = word(128);
  for (int i = 0; i < count; i += kLanes) {
    const ByteVector y = hn::LoadU(d, rows.first + i);
    const ByteVector cb = hn::LoadU(d, rows.second + i);
    const ByteVector cr = hn::LoadU(d, rows.third + i);
    const RgbWords lower =
        convert(lower_words(y), hn::Sub(lower_words(cb), center), hn::Sub(lower_words(cr), center));
    const RgbWords upper =
        convert(upper_words(y), hn::Sub(upper_words(cb), center), hn::Sub(upper_words(cr), center));
    hn::StoreInterleaved3(narrow_to_unsigned(lower.red, upper.red),
                          narrow_to_unsigned(lower.green, upper.green),
                          narrow_to_unsigned(lower.blue, upper.blue), d, out + 3 * i);
  }
}

void planes_to_rgb_simd(const PlaneRows& rows, int count, std::uint8_t* HWY_RESTRICT out) {
  const Bytes d;
  for (int i = 0; i < count; i += kLanes) {
    hn::StoreInterleaved3(hn::LoadU(d, rows.first + i), hn::LoadU(d, rows.second + i),
                          hn::LoadU(d, rows.third + i), d, out + 3 * i);
  }
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace unstarve::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace unstarve::kernels {

HWY_EXPORT(ycc_to_rgb_simd);
HWY_EXPORT(planes_to_rgb_simd);

void ycc_to_rgb(const PlaneRows& rows, int count, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(ycc_to_rgb_simd)(rows, count, out);
}

void planes_to_rgb(const PlaneRows& rows, int count, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(planes_to_rgb_simd)(rows, count, out);
}

}  // namespace unstarve::kernels
#endif  // HWY_ONCE
