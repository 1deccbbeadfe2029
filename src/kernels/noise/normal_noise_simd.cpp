// Normally distributed numbers in SIMD, compiled once per instruction set by Highway.
#include <numbers>

#include "kernels/noise/normal_noise.h"
#include "kernels/noise/philox.h"

// Code below relies on vectors of a size known at compile time.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/noise/normal_noise_simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first: it includes this file once per target.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace unstarve::kernels::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

// A CPU without any of the vector instructions that Highway knows.
void make_normal_simd(const NoiseKey& key, std::array<float, kNoiseStretch>& out) {
  make_normal_plain(key, out);
}

#else

namespace hn = hwy::HWY_NAMESPACE;

using LongTag = hn::ScalableTag<std::uint64_t>;
using WordTag = hn::Repartition<std::uint32_t, LongTag>;
using IntTag = hn::RebindToSigned<WordTag>;
using FloatTag = hn::Repartition<float, LongTag>;
using Long = hn::Vec<LongTag>;
using Word = hn::Vec<WordTag>;
using Float = hn::Vec<FloatTag>;

/// The words of as many counters as a vector has 64-bit lanes; each in a lane's lower half.
struct Counters {
  Long words[4];
};

HWY_INLINE Long multiplied(Long value, std::uint32_t by) {
  return hn::MulEven(hn::BitCast(WordTag(), value), hn::Set(WordTag(), by));
}

HWY_INLINE Long low(Long value) { return hn::And(value, hn::Set(LongTag(), 0xFFFFFFFFU)); }

HWY_INLINE void mix(std::uint64_t key, Counters& counters) {
  const LongTag d;
  auto key0 = static_cast<std::uint32_t>(key);
  auto key1 = static_cast<std::uint32_t>(key >> 32);
  Long(&words)[4] = counters.words;
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const Long product0 = multiplied(words[0], kPhiloxMultipliers[0]);
    const Long product1 = multiplied(words[2], kPhiloxMultipliers[1]);
    words[0] = hn::Xor(hn::Xor(hn::ShiftRight<32>(product1), words[1]), hn::Set(d, key0));
    words[1] = low(product1);
    words[2] = hn::Xor(hn::Xor(hn::ShiftRight<32>(product0), words[3]), hn::Set(d, key1));
    words[3] = low(product0);
    key0 += kPhiloxWeyl[0];
    key1 += kPhiloxWeyl[1];
  }
}

/// Two words of each counter side by side.
HWY_INLINE Word joined(Long first, Long second) {
  return hn::BitCast(WordTag(), hn::Or(first, hn::ShiftLeft<32>(second)));
}

/// Their upper 24 bits and `more`, in 1 / 2^24.
HWY_INLINE Float shares(Word bits, std::int32_t more) {
  const IntTag di;
  const auto whole = hn::Add(hn::BitCast(di, hn::ShiftRight<8>(bits)), hn::Set(di, more));
  return hn::Mul(hn::ConvertTo(FloatTag(), whole), hn::Set(FloatTag(), 0x1p-24F));
}

void make_normal_simd(const NoiseKey& key, std::array<float, kNoiseStretch>& out) {
  const LongTag d;
  const FloatTag df;
  constexpr std::size_t kLanes = hn::MaxLanes(LongTag());
  for (std::size_t block = 0; block < kNoiseStretch / 4; block += kLanes) {
    Counters counters = {{hn::Set(d, key.counter[0]), hn::Set(d, key.counter[1]),
                          hn::Set(d, key.counter[2]),
                          low(hn::Iota(d, std::uint64_t{key.counter[3]} + block))}};
    mix(key.seed, counters);
    const auto& words = counters.words;
    const Float share = shares(joined(words[0], words[1]), 1);
    const Float turn = shares(joined(words[2], words[3]), 0);
    const Float radius = hn::Sqrt(hn::Mul(hn::Set(df, -2.0F), hn::Log(df, share)));
    const Float angle = hn::Mul(hn::Set(df, 2 * std::numbers::pi_v<float>), turn);
    float* const first = out.data() + 2 * block;
    hn::StoreU(hn::Mul(radius, hn::Cos(df, angle)), df, first);
    hn::StoreU(hn::Mul(radius, hn::Sin(df, angle)), df, first + kNoiseStretch / 2);
  }
}

#endif

}  // namespace unstarve::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace unstarve::kernels {

HWY_EXPORT(make_normal_simd);

void make_normal(const NoiseKey& key, std::array<float, kNoiseStretch>& out) {
  HWY_DYNAMIC_DISPATCH(make_normal_simd)(key, out);
}

}  // namespace unstarve::kernels
#endif  // HWY_ONCE
