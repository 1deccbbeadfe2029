// Bytes to floating-point values in SIMD, compiled once per instruction set by Highway.
#include <cstring>

#include "kernels/pixels/convert.h"

// Code below relies on vectors of a size known at compile time.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pixels/convert_simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first: it includes this file once per target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace unstarve::kernels::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

// A CPU without any of the vector instructions that Highway knows.
void convert_pixels_simd(const Conversion& conversion, const std::uint8_t* pixels,
                         std::size_t count, void* out) {
  convert_pixels_plain(conversion, pixels, count, out);
}

#else

namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using IntTag = hn::RebindToSigned<FloatTag>;
using UintTag = hn::RebindToUnsigned<FloatTag>;
using ByteTag = hn::Rebind<std::uint8_t, FloatTag>;
using HalfTag = hn::Rebind<std::uint16_t, FloatTag>;
using Float = hn::Vec<FloatTag>;
constexpr std::size_t kLanes = hn::MaxLanes(FloatTag());

// Highway rounds to half with the CPU's own instruction from AVX2 on, and cuts off before that.
#if HWY_TARGET == HWY_SSSE3 || HWY_TARGET == HWY_SSE4
constexpr bool kRoundsToHalf = false;
#else
constexpr bool kRoundsToHalf = true;
#endif

/// How a value is stored: the lanes of Float to the lanes of Tag.
struct AsFloat32 {
  using Value = float;
  using Tag = FloatTag;
  static HWY_INLINE hn::Vec<Tag> of(Float value) { return value; }
};
struct AsFloat16 {
  using Value = std::uint16_t;
  using Tag = HalfTag;
  static HWY_INLINE hn::Vec<Tag> of(Float value) {
    const hn::Rebind<hwy::float16_t, FloatTag> d;
    return hn::BitCast(Tag(), hn::DemoteTo(d, value));
  }
};
struct AsBfloat16 {
  using Value = std::uint16_t;
  using Tag = HalfTag;
  /// To the nearest, halves to even; Highway's own conversion cuts off.
  static HWY_INLINE hn::Vec<Tag> of(Float value) {
    const UintTag d;
    const auto bits = hn::BitCast(d, value);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1));
    const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(d, 0x7FFF)));
    return hn::TruncateTo(Tag(), hn::ShiftRight<16>(rounded));
  }
};

/// The arithmetic. `mean` and `deviation` hold what the lanes of three vectors need.
struct Arithmetic {
  ValueScale scale;
  bool normalise;
  float mean[3 * kLanes];
  float deviation[3 * kLanes];

  /// Planar: a vector for each channel. Otherwise the channels alternate through three vectors.
  Arithmetic(const Conversion& conversion)
      : scale(conversion.scale), normalise(conversion.normalise) {
    for (std::size_t lane = 0; lane < 3 * kLanes; ++lane) {
      const std::size_t channel = conversion.planar ? lane / kLanes : lane % 3;
      mean[lane] = conversion.mean[channel];
      deviation[lane] = conversion.deviation[channel];
    }
  }

  HWY_INLINE Float operator()(hn::Vec<ByteTag> bytes, int vector) const {
    const FloatTag d;
    Float value = hn::ConvertTo(d, hn::PromoteTo(IntTag(), bytes));
    if (scale == ValueScale::kDivide) value = hn::Div(value, hn::Set(d, 255.0F));
    if (scale == ValueScale::kMultiply) {
      value = hn::Mul(value, hn::Set(d, static_cast<float>(1.0 / 255)));
    }
    if (!normalise) return value;
    const std::size_t lane = static_cast<std::size_t>(vector) * kLanes;
    value = hn::Sub(value, hn::LoadU(d, mean + lane));
    return hn::Div(value, hn::LoadU(d, deviation + lane));
  }
};

/// Three vectors for kLanes pixels, to three planes.
template <class As>
HWY_INLINE void convert_planar(const Arithmetic& arithmetic, const std::uint8_t* pixels,
                               typename As::Value* const* planes) {
  hn::Vec<ByteTag> red, green, blue;
  hn::LoadInterleaved3(ByteTag(), pixels, red, green, blue);
  const typename As::Tag d;
  hn::StoreU(As::of(arithmetic(red, 0)), d, planes[0]);
  hn::StoreU(As::of(arithmetic(green, 1)), d, planes[1]);
  hn::StoreU(As::of(arithmetic(blue, 2)), d, planes[2]);
}

/// The same, in the order of the bytes.
template <class As>
HWY_INLINE void convert_in_order(const Arithmetic& arithmetic, const std::uint8_t* pixels,
                                 typename As::Value* out) {
  const ByteTag d;
  for (int i = 0; i < 3; ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * kLanes;
    hn::StoreU(As::of(arithmetic(hn::LoadU(d, pixels + at), i)), typename As::Tag(), out + at);
  }
}

template <class As>
HWY_INLINE void convert_all(const Conversion& conversion, const std::uint8_t* pixels,
                            std::size_t count, void* out) {
  using Value = typename As::Value;
  const Arithmetic arithmetic(conversion);
  auto* values = static_cast<Value*>(out);
  std::size_t done = 0;
  for (; done + kLanes <= count; done += kLanes) {
    if (conversion.planar) {
      Value* const planes[3] = {values + done, values + count + done, values + 2 * count + done};
      convert_planar<As>(arithmetic, pixels + 3 * done, planes);
    } else {
      convert_in_order<As>(arithmetic, pixels + 3 * done, values + 3 * done);
    }
  }
  const std::size_t left = count - done;
  if (left == 0) return;
  std::uint8_t rest[3 * kLanes] = {};
  std::memcpy(rest, pixels + 3 * done, 3 * left);
  Value converted[3 * kLanes];
  if (conversion.planar) {
    Value* const planes[3] = {converted, converted + kLanes, converted + 2 * kLanes};
    convert_planar<As>(arithmetic, rest, planes);
    for (std::size_t channel = 0; channel < 3; ++channel) {
      std::memcpy(values + channel * count + done, planes[channel], left * sizeof(Value));
    }
  } else {
    convert_in_order<As>(arithmetic, rest, converted);
    std::memcpy(values + 3 * done, converted, 3 * left * sizeof(Value));
  }
}

void split_planes(const std::uint8_t* pixels, std::size_t count, std::uint8_t* out) {
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t done = 0;
  for (; done + lanes <= count; done += lanes) {
    hn::Vec<decltype(d)> red, green, blue;
    hn::LoadInterleaved3(d, pixels + 3 * done, red, green, blue);
    hn::StoreU(red, d, out + done);
    hn::StoreU(green, d, out + count + done);
    hn::StoreU(blue, d, out + 2 * count + done);
  }
  for (; done < count; ++done) {
    for (std::size_t channel = 0; channel < 3; ++channel) {
      out[channel * count + done] = pixels[3 * done + channel];
    }
  }
}

void convert_pixels_simd(const Conversion& conversion, const std::uint8_t* pixels,
                         std::size_t count, void* out) {
  switch (conversion.type) {
    case ValueType::kUint8:
      if (conversion.planar) {
        split_planes(pixels, count, static_cast<std::uint8_t*>(out));
      } else {
        std::memcpy(out, pixels, 3 * count);
      }
      return;
    case ValueType::kFloat32: return convert_all<AsFloat32>(conversion, pixels, count, out);
    case ValueType::kFloat16:
      if (!kRoundsToHalf) return convert_pixels_plain(conversion, pixels, count, out);
      return convert_all<AsFloat16>(conversion, pixels, count, out);
    case ValueType::kBfloat16: return convert_all<AsBfloat16>(conversion, pixels, count, out);
  }
}

#endif  // vectors

}  // namespace unstarve::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace unstarve::kernels {

HWY_EXPORT(convert_pixels_simd);

void convert_pixels(const Conversion& conversion, const std::uint8_t* pixels, std::size_t count,
                    void* out) {
  if (count == 0) return;
  HWY_DYNAMIC_DISPATCH(convert_pixels_simd)(conversion, pixels, count, out);
}

}  // namespace unstarve::kernels
#endif  // HWY_ONCE
