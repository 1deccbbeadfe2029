// The filters of PNG in SIMD, compiled once per instruction set by Highway. Each pixel waits for
// the one to its left, so that a vector holds one pixel.
#include <cstring>

#include "kernels/png/unfilter.h"

// Code below relies on vectors of a size known at compile time.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/png/unfilter_simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first: it includes this file once per target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace unstarve::kernels::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

// A CPU without any of the vector instructions that Highway knows.
void unfilter_simd(RowFilter filter, std::uint8_t* row, const std::uint8_t* above,
                   std::size_t bytes, std::size_t step) {
  unfilter_plain(filter, row, above, bytes, step);
}

#else

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kLanes = 8;
using ByteTag = hn::FixedTag<std::uint8_t, kLanes>;
using WideTag = hn::FixedTag<std::int16_t, kLanes>;
using Bytes = hn::Vec<ByteTag>;
using Wide = hn::Vec<WideTag>;

/// Of what is read, the first `kStep` bytes belong to the pixel.
HWY_INLINE Bytes load(const std::uint8_t* from) { return hn::LoadU(ByteTag(), from); }

template <std::size_t kStep>
HWY_INLINE void store(Bytes pixel, std::uint8_t* to) {
  std::uint8_t all[kLanes];
  hn::StoreU(pixel, ByteTag(), all);
  std::memcpy(to, all, kStep);
}

void add_above(std::uint8_t* row, const std::uint8_t* above, std::size_t bytes) {
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= bytes; i += lanes) {
    hn::StoreU(hn::Add(hn::LoadU(d, row + i), hn::LoadU(d, above + i)), d, row + i);
  }
  for (; i < bytes; ++i) row[i] = static_cast<std::uint8_t>(row[i] + above[i]);
}

template <std::size_t kStep>
void add_left(std::uint8_t* row, std::size_t bytes) {
  Bytes left = hn::Zero(ByteTag());
  for (std::size_t i = 0; i < bytes; i += kStep) {
    left = hn::Add(load(row + i), left);
    store<kStep>(left, row + i);
  }
}

/// The average of unsigned bytes rounds up; PNG's rounds down.
HWY_INLINE Bytes lower_average(Bytes a, Bytes b) {
  const Bytes odd = hn::And(hn::Xor(a, b), hn::Set(ByteTag(), std::uint8_t{1}));
  return hn::Sub(hn::AverageRound(a, b), odd);
}

template <std::size_t kStep>
void add_average(std::uint8_t* row, const std::uint8_t* above, std::size_t bytes) {
  Bytes left = hn::Zero(ByteTag());
  for (std::size_t i = 0; i < bytes; i += kStep) {
    left = hn::Add(load(row + i), lower_average(left, load(above + i)));
    store<kStep>(left, row + i);
  }
}

HWY_INLINE Wide nearest(Wide left, Wide above, Wide corner) {
  const Wide down = hn::Sub(above, corner);
  const Wide across = hn::Sub(left, corner);
  const Wide to_left = hn::Abs(down);
  const Wide to_above = hn::Abs(across);
  const Wide to_corner = hn::Abs(hn::Add(down, across));
  const Wide least = hn::Min(to_left, hn::Min(to_above, to_corner));
  const Wide otherwise = hn::IfThenElse(hn::Eq(to_above, least), above, corner);
  return hn::IfThenElse(hn::Eq(to_left, least), left, otherwise);
}

template <std::size_t kStep>
void add_paeth(std::uint8_t* row, const std::uint8_t* above, std::size_t bytes) {
  const WideTag wide;
  Wide left = hn::Zero(wide);
  Wide corner = hn::Zero(wide);
  for (std::size_t i = 0; i < bytes; i += kStep) {
    const Wide over = hn::PromoteTo(wide, load(above + i));
    const Wide sum = hn::Add(hn::PromoteTo(wide, load(row + i)), nearest(left, over, corner));
    left = hn::And(sum, hn::Set(wide, std::int16_t{0xFF}));
    corner = over;
    store<kStep>(hn::DemoteTo(ByteTag(), left), row + i);
  }
}

template <std::size_t kStep>
void unfilter_pixels(RowFilter filter, std::uint8_t* row, const std::uint8_t* above,
                     std::size_t bytes) {
  switch (filter) {
    case RowFilter::kSub: return add_left<kStep>(row, bytes);
    case RowFilter::kAverage: return add_average<kStep>(row, above, bytes);
    case RowFilter::kPaeth: return add_paeth<kStep>(row, above, bytes);
    case RowFilter::kNone:
    case RowFilter::kUp: return;
  }
}

void unfilter_simd(RowFilter filter, std::uint8_t* row, const std::uint8_t* above,
                   std::size_t bytes, std::size_t step) {
  if (filter == RowFilter::kNone) return;
  if (filter == RowFilter::kUp) return add_above(row, above, bytes);
  switch (step) {
    case 3: return unfilter_pixels<3>(filter, row, above, bytes);
    case 4: return unfilter_pixels<4>(filter, row, above, bytes);
    case 6: return unfilter_pixels<6>(filter, row, above, bytes);
    case 8: return unfilter_pixels<8>(filter, row, above, bytes);
    default: return unfilter_plain(filter, row, above, bytes, step);
  }
}

#endif  // vectors

}  // namespace unstarve::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace unstarve::kernels {

HWY_EXPORT(unfilter_simd);

void unfilter(RowFilter filter, std::uint8_t* row, const std::uint8_t* above, std::size_t bytes,
              std::size_t step) {
  HWY_DYNAMIC_DISPATCH(unfilter_simd)(filter, row, above, bytes, step);
}

}  // namespace unstarve::kernels
#endif  // HWY_ONCE
