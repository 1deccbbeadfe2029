// Normalisation in SIMD, compiled once per instruction set by Highway.
#include "kernels/pixels/normalise.h"

// Code below relies on vectors of a size known at compile time.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pixels/normalise.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first: it includes this file once per target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace unstarve::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
constexpr std::size_t kLanes = hn::MaxLanes(Tag());
/// Three vectors hold whole pixels.
constexpr std::size_t kPattern = 3 * kLanes;

/// What is subtracted from a stretch of values, and what they are divided by: the same again after
/// each kPattern of them.
struct Pattern {
  float mean[kPattern];
  float deviation[kPattern];
};

void normalise_stretch(const Pattern& pattern, const float* values, std::size_t count, float* out) {
  const Tag d;
  std::size_t i = 0;
  for (; i + kPattern <= count; i += kPattern) {
    for (std::size_t part = 0; part < kPattern; part += kLanes) {
      const auto moved =
          hn::Sub(hn::LoadU(d, values + i + part), hn::LoadU(d, pattern.mean + part));
      hn::StoreU(hn::Div(moved, hn::LoadU(d, pattern.deviation + part)), d, out + i + part);
    }
  }
  for (std::size_t j = 0; i < count; ++i, ++j) {
    out[i] = (values[i] - pattern.mean[j]) / pattern.deviation[j];
  }
}

void normalise_simd(const Normalisation& normalisation, const float* values, std::size_t count,
                    float* out) {
  Pattern pattern;
  if (!normalisation.planar) {
    for (std::size_t i = 0; i < kPattern; ++i) {
      pattern.mean[i] = normalisation.mean[i % 3];
      pattern.deviation[i] = normalisation.deviation[i % 3];
    }
    return normalise_stretch(pattern, values, 3 * count, out);
  }
  for (std::size_t channel = 0; channel < 3; ++channel) {
    for (std::size_t i = 0; i < kPattern; ++i) {
      pattern.mean[i] = normalisation.mean[channel];
      pattern.deviation[i] = normalisation.deviation[channel];
    }
    normalise_stretch(pattern, values + channel * count, count, out + channel * count);
  }
}

void normalise_bytes_simd(const ByteNormalisation& normalisation, const std::uint8_t* bytes,
                          std::size_t count, float* out) {
  const Tag d;
  const hn::Rebind<std::uint8_t, Tag> byte_tag;
  const hn::Rebind<std::int32_t, Tag> int_tag;
  float mean[kPattern], factor[kPattern];
  for (std::size_t i = 0; i < kPattern; ++i) {
    mean[i] = normalisation.mean[i % 3];
    factor[i] = normalisation.factor[i % 3];
  }
  const std::size_t values = 3 * count;
  std::size_t i = 0;
  for (; i + kPattern <= values; i += kPattern) {
    for (std::size_t part = 0; part < kPattern; part += kLanes) {
      const auto whole = hn::PromoteTo(int_tag, hn::LoadU(byte_tag, bytes + i + part));
      const auto moved = hn::Sub(hn::ConvertTo(d, whole), hn::LoadU(d, mean + part));
      hn::StoreU(hn::Mul(moved, hn::LoadU(d, factor + part)), d, out + i + part);
    }
  }
  for (std::size_t j = 0; i < values; ++i, ++j) {
    out[i] = (static_cast<float>(bytes[i]) - mean[j]) * factor[j];
  }
}

}  // namespace unstarve::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace unstarve::kernels {

HWY_EXPORT(normalise_simd);
HWY_EXPORT(normalise_bytes_simd);

void normalise(const Normalisation& normalisation, const float* values, std::size_t count,
               float* out) {
  HWY_DYNAMIC_DISPATCH(normalise_simd)(normalisation, values, count, out);
}

void normalise_plain(const Normalisation& normalisation, const float* values, std::size_t count,
                     float* out) {
  for (std::size_t i = 0; i < 3 * count; ++i) {
    const std::size_t channel = normalisation.planar ? i / count : i % 3;
    out[i] = (values[i] - normalisation.mean[channel]) / normalisation.deviation[channel];
  }
}

void normalise_bytes(const ByteNormalisation& normalisation, const std::uint8_t* bytes,
                     std::size_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(normalise_bytes_simd)(normalisation, bytes, count, out);
}

void normalise_bytes_plain(const ByteNormalisation& normalisation, const std::uint8_t* bytes,
                           std::size_t count, float* out) {
  for (std::size_t i = 0; i < 3 * count; ++i) {
    const float moved = static_cast<float>(bytes[i]) - normalisation.mean[i % 3];
    out[i] = moved * normalisation.factor[i % 3];
  }
}

}  // namespace unstarve::kernels
#endif  // HWY_ONCE
