// The changes of colour in SIMD, compiled once per instruction set by Highway.
#include <algorithm>
#include <cstring>

#include "kernels/pixels/colour_adjust.h"

// Code below relies on vectors of a size known at compile time.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pixels/colour_adjust_simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first: it includes this file once per target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace unstarve::kernels::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

// A CPU without any of the vector instructions that Highway knows.
void adjust_colour_simd(ColourOp op, double factor, std::uint8_t* pixels, std::size_t count) {
  adjust_colour_plain(op, factor, pixels, count);
}

#else

namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using IntTag = hn::RebindToSigned<FloatTag>;
using ByteTag = hn::Rebind<std::uint8_t, FloatTag>;
using Float = hn::Vec<FloatTag>;
using Mask = hn::Mask<FloatTag>;
constexpr std::size_t kLanes = hn::MaxLanes(FloatTag());

/// The channels of kLanes pixels.
struct Rgb {
  Float red, green, blue;
};

HWY_INLINE Float widen(hn::Vec<ByteTag> bytes) {
  return hn::ConvertTo(FloatTag(), hn::PromoteTo(IntTag(), bytes));
}

/// Cuts the fraction off, after clamping to 0 .. 255.
HWY_INLINE hn::Vec<ByteTag> narrow(Float value) {
  const FloatTag d;
  const Float clamped = hn::Min(hn::Max(value, hn::Zero(d)), hn::Set(d, 255.0F));
  return hn::DemoteTo(ByteTag(), hn::ConvertTo(IntTag(), clamped));
}

HWY_INLINE Float grey_of(const Rgb& pixels) {
  const FloatTag d;
  Float grey = hn::Mul(pixels.red, hn::Set(d, 0.2989F));
  grey = hn::MulAdd(pixels.green, hn::Set(d, 0.587F), grey);
  grey = hn::MulAdd(pixels.blue, hn::Set(d, 0.114F), grey);
  return hn::Floor(grey);
}

/// value * factor + offset * (1 - factor), the first product rounded on its own, as torch has it.
struct Blend {
  Float factor, rest;
  explicit HWY_INLINE Blend(double f)
      : factor(hn::Set(FloatTag(), static_cast<float>(f))),
        rest(hn::Set(FloatTag(), static_cast<float>(1.0 - f))) {}
  HWY_INLINE Float operator()(Float value, Float other) const {
    return hn::MulAdd(other, rest, hn::Mul(value, factor));
  }
};

struct Saturate {
  Blend blend;
  HWY_INLINE Rgb operator()(const Rgb& in) const {
    const Float grey = grey_of(in);
    return {blend(in.red, grey), blend(in.green, grey), blend(in.blue, grey)};
  }
};

struct MakeGrey {
  HWY_INLINE Rgb operator()(const Rgb& in) const {
    const Float grey = grey_of(in);
    return {grey, grey, grey};
  }
};

/// Follows adjust_colour_plain() operation by operation, so that results are equal to the bit.
struct ShiftHue {
  Float shift;

  static HWY_INLINE Float unit_times(Float part, Float high) {
    const FloatTag d;
    return hn::Min(hn::Max(hn::Mul(part, high), hn::Zero(d)), hn::Set(d, 1.0F));
  }

  /// 0 .. 1, before the shift. The two differences to the highest channel that count are chosen
  /// before they are divided.
  static HWY_INLINE Float hue_of(const Rgb& unit, Float high, Float divisor) {
    const FloatTag d;
    const Mask is_red = hn::Eq(high, unit.red);
    const Mask is_green = hn::Eq(high, unit.green);
    const Float plus =
        hn::IfThenElse(is_red, unit.blue, hn::IfThenElse(is_green, unit.red, unit.green));
    const Float minus =
        hn::IfThenElse(is_red, unit.green, hn::IfThenElse(is_green, unit.blue, unit.red));
    const Float sector = hn::IfThenElse(
        is_red, hn::Zero(d), hn::IfThenElse(is_green, hn::Set(d, 2.0F), hn::Set(d, 4.0F)));
    Float hue = hn::Div(hn::Sub(high, plus), divisor);
    hue = hn::Sub(hn::Add(hue, sector), hn::Div(hn::Sub(high, minus), divisor));
    hue = hn::Add(hn::Mul(hue, hn::Set(d, static_cast<float>(1.0 / 6))), hn::Set(d, 1.0F));
    return hn::Sub(hue, hn::Floor(hue));
  }

  HWY_INLINE Rgb operator()(const Rgb& in) const {
    const FloatTag d;
    const Float ones = hn::Set(d, 1.0F);
    const Float per_255 = hn::Set(d, static_cast<float>(1.0 / 255));
    const Rgb unit = {hn::Mul(in.red, per_255), hn::Mul(in.green, per_255),
                      hn::Mul(in.blue, per_255)};
    const Float high = hn::Max(hn::Max(unit.red, unit.green), unit.blue);
    const Float range = hn::Sub(high, hn::Min(hn::Min(unit.red, unit.green), unit.blue));
    const Mask is_grey = hn::Eq(range, hn::Zero(d));
    const Float saturation = hn::Div(range, hn::IfThenElse(is_grey, ones, high));
    Float hue = hue_of(unit, high, hn::IfThenElse(is_grey, ones, range));
    hue = hn::Add(hue, shift);
    hue = hn::Sub(hue, hn::Floor(hue));

    const Float sixths = hn::Mul(hue, hn::Set(d, 6.0F));
    const Float sector = hn::Floor(sixths);
    const Float scaled = hn::Mul(saturation, hn::Sub(sixths, sector));
    const Float rest = hn::Sub(ones, saturation);
    const Float q = unit_times(hn::Sub(ones, scaled), high);
    const Float t = unit_times(hn::Add(scaled, rest), high);
    const Float p = unit_times(rest, high);
    const Mask s1 = hn::Eq(sector, ones);
    const Mask s2 = hn::Eq(sector, hn::Set(d, 2.0F));
    const Mask s3 = hn::Eq(sector, hn::Set(d, 3.0F));
    const Mask s4 = hn::Eq(sector, hn::Set(d, 4.0F));
    const Mask s5 = hn::Eq(sector, hn::Set(d, 5.0F));
    // What is left over are the sectors 0 and, where rounding reached a full turn, 6.
    const Float red =
        hn::IfThenElse(s1, q, hn::IfThenElse(hn::Or(s2, s3), p, hn::IfThenElse(s4, t, high)));
    const Float green = hn::IfThenElse(hn::Or(s1, s2), high,
                                       hn::IfThenElse(s3, q, hn::IfThenElse(hn::Or(s4, s5), p, t)));
    const Float blue =
        hn::IfThenElse(s2, t, hn::IfThenElse(hn::Or(s3, s4), high, hn::IfThenElse(s5, q, p)));
    const Float to_byte = hn::Set(d, 255.999F);
    return {hn::Mul(red, to_byte), hn::Mul(green, to_byte), hn::Mul(blue, to_byte)};
  }
};

HWY_INLINE Rgb load_pixels(const std::uint8_t* pixels) {
  hn::Vec<ByteTag> red, green, blue;
  hn::LoadInterleaved3(ByteTag(), pixels, red, green, blue);
  return {widen(red), widen(green), widen(blue)};
}

template <class Op>
HWY_INLINE void change_vector(const Op& op, std::uint8_t* pixels) {
  const Rgb changed = op(load_pixels(pixels));
  hn::StoreInterleaved3(narrow(changed.red), narrow(changed.green), narrow(changed.blue), ByteTag(),
                        pixels);
}

template <class Op>
HWY_INLINE void change_pixels(const Op& op, std::uint8_t* pixels, std::size_t count) {
  std::size_t done = 0;
  for (; done + kLanes <= count; done += kLanes) change_vector(op, pixels + 3 * done);
  if (done == count) return;
  std::uint8_t rest[3 * kLanes] = {};
  std::memcpy(rest, pixels + 3 * done, 3 * (count - done));
  change_vector(op, rest);
  std::memcpy(pixels + 3 * done, rest, 3 * (count - done));
}

/// Every byte alike, whatever its channel: value * factor + offset.
HWY_INLINE void change_bytes(const Blend& blend, Float other, std::uint8_t* bytes,
                             std::size_t count) {
  const ByteTag d;
  std::size_t done = 0;
  for (; done + kLanes <= count; done += kLanes) {
    hn::StoreU(narrow(blend(widen(hn::LoadU(d, bytes + done)), other)), d, bytes + done);
  }
  if (done == count) return;
  std::uint8_t rest[kLanes] = {};
  std::memcpy(rest, bytes + done, count - done);
  hn::StoreU(narrow(blend(widen(hn::LoadU(d, rest)), other)), d, rest);
  std::memcpy(bytes + done, rest, count - done);
}

/// The mean of the grey values, each rounded down.
HWY_INLINE float mean_grey(const std::uint8_t* pixels, std::size_t count) {
  constexpr std::size_t kChunk = std::size_t{1} << 16;  // so that 32-bit lanes cannot overflow
  const IntTag d;
  double total = 0;
  std::size_t done = 0;
  while (done + kLanes <= count) {
    const std::size_t end = std::min(count, done + kChunk);
    auto sum = hn::Zero(d);
    for (; done + kLanes <= end; done += kLanes) {
      sum = hn::Add(sum, hn::ConvertTo(d, grey_of(load_pixels(pixels + 3 * done))));
    }
    total += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, sum)));
  }
  std::uint8_t rest[3 * kLanes] = {};  // black adds nothing
  std::memcpy(rest, pixels + 3 * done, 3 * (count - done));
  const auto last = hn::ConvertTo(d, grey_of(load_pixels(rest)));
  total += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, last)));
  return static_cast<float>(total / static_cast<double>(count));
}

void adjust_colour_simd(ColourOp op, double factor, std::uint8_t* pixels, std::size_t count) {
  const FloatTag d;
  switch (op) {
    case ColourOp::kBrightness: return change_bytes(Blend(factor), hn::Zero(d), pixels, 3 * count);
    case ColourOp::kContrast:
      return change_bytes(Blend(factor), hn::Set(d, mean_grey(pixels, count)), pixels, 3 * count);
    case ColourOp::kSaturation: return change_pixels(Saturate{Blend(factor)}, pixels, count);
    case ColourOp::kHue:
      return change_pixels(ShiftHue{hn::Set(d, static_cast<float>(factor))}, pixels, count);
    case ColourOp::kGreyscale: return change_pixels(MakeGrey(), pixels, count);
  }
}

#endif  // vectors

}  // namespace unstarve::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace unstarve::kernels {

HWY_EXPORT(adjust_colour_simd);

void adjust_colour(ColourOp op, double factor, std::uint8_t* pixels, std::size_t count) {
  if (count == 0) return;
  HWY_DYNAMIC_DISPATCH(adjust_colour_simd)(op, factor, pixels, count);
}

}  // namespace unstarve::kernels
#endif  // HWY_ONCE
