// The SIMD passes of the resize, compiled once per instruction set by Highway.
#include "kernels/resize.h"

// Code below relies on vectors of a size known at compile time.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/resize_simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first: it includes this file once per target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace unstarve::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

// A CPU without any of the vector instructions that Highway knows.
void resize_strip_simd(const std::uint8_t* const* rows, const AxisPlan& plan,
                       const StripScratch& /*scratch*/, std::uint8_t* const* out_rows) {
  for (int row = 0; row < kStripRows; ++row) resize_row_plain(rows[row], plan, out_rows[row]);
}

void blend_rows_simd(const RowBlend& blend, std::uint8_t* out) { blend_rows_plain(blend, out); }

#else

/// Bytes of the tiles that are transposed: one or two 128-bit blocks, each a 16x16 tile of its own.
using TileTag = hn::CappedTag<std::uint8_t, 32>;
constexpr int kTileBlocks = static_cast<int>(hn::MaxLanes(TileTag()) / 16);
constexpr int kTilePasses = kStripRows / 16 / kTileBlocks;

using BlockTag = hn::Full128<std::uint8_t>;
using BlockVector = hn::Vec<BlockTag>;
using TileVector = hn::Vec<TileTag>;

/// Transposes each block's 16x16 bytes: after it, byte r of vector c is what byte c of vector r
/// was. Each of the four rounds rotates the address bits (vector, byte) by one.
HWY_INLINE void transpose_tile(TileVector* HWY_RESTRICT v) {
  const TileTag d;
  TileVector w[16];
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 8; ++i) {
      w[2 * i] = hn::InterleaveLower(d, v[i], v[i + 8]);
      w[2 * i + 1] = hn::InterleaveUpper(d, v[i], v[i + 8]);
    }
    for (int i = 0; i < 8; ++i) {
      v[2 * i] = hn::InterleaveLower(d, w[i], w[i + 8]);
      v[2 * i + 1] = hn::InterleaveUpper(d, w[i], w[i + 8]);
    }
  }
}

#if HWY_MAX_BYTES >= 32
HWY_INLINE TileVector load_blocks(const std::uint8_t* lower, const std::uint8_t* upper) {
  return hn::Combine(TileTag(), hn::LoadU(BlockTag(), upper), hn::LoadU(BlockTag(), lower));
}
HWY_INLINE void store_blocks(TileVector v, std::uint8_t* lower, std::uint8_t* upper) {
  hn::StoreU(hn::LowerHalf(v), BlockTag(), lower);
  hn::StoreU(hn::UpperHalf(BlockTag(), v), BlockTag(), upper);
}
#else
HWY_INLINE TileVector load_blocks(const std::uint8_t* lower, const std::uint8_t* /*upper*/) {
  return hn::LoadU(BlockTag(), lower);
}
HWY_INLINE void store_blocks(TileVector v, std::uint8_t* lower, std::uint8_t* /*upper*/) {
  hn::StoreU(v, BlockTag(), lower);
}
#endif

/// The row that vector i of a pass loads into its lower block; the upper block takes the row 8
/// (two blocks) further on. Chosen so that widening to 16 bits, which works within blocks, leaves
/// the rows of a column in order.
constexpr int lower_row(int pass, int i) {
  return kTileBlocks == 2 ? (i < 8 ? i : i + 8) : pass * 16 + i;
}

/// rows[r][c] -> columns[c * kStripRows + r], as value * 256.
HWY_NOINLINE void widen_columns(const std::uint8_t* const* rows, int bytes,
                                std::uint16_t* HWY_RESTRICT columns) {
  const TileTag d;
  const hn::Repartition<std::uint16_t, TileTag> d16;
  const TileVector zero = hn::Zero(d);
  constexpr int kHalf = kTileBlocks * 8;  // 16-bit samples in one vector
  for (int byte = 0; byte < bytes; byte += 16) {
    for (int pass = 0; pass < kTilePasses; ++pass) {
      TileVector v[16];
      for (int i = 0; i < 16; ++i) {
        const int row = lower_row(pass, i);
        v[i] = load_blocks(rows[row] + byte, rows[(row + 8) % kStripRows] + byte);
      }
      transpose_tile(v);
      for (int i = 0; i < 16; ++i) {
        std::uint16_t* column = columns + (byte + i) * kStripRows + pass * 16;
        hn::Store(hn::BitCast(d16, hn::InterleaveLower(d, zero, v[i])), d16, column);
        hn::Store(hn::BitCast(d16, hn::InterleaveUpper(d, zero, v[i])), d16, column + kHalf);
      }
    }
  }
}

/// One weighted sum per output and channel, for all rows of the strip at once.
HWY_NOINLINE void sum_columns(const std::uint16_t* HWY_RESTRICT columns, const AxisPlan& plan,
                              std::uint8_t* HWY_RESTRICT resized) {
  const hn::CappedTag<std::uint16_t, kStripRows> d;
  const hn::RebindToSigned<decltype(d)> d_signed;
  const hn::Rebind<std::uint8_t, decltype(d)> d_byte;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(d));
  constexpr int kVectors = kStripRows / kLanes;
  for (int output = 0; output < plan.count; ++output) {
    const auto index = static_cast<std::size_t>(output);
    const std::uint16_t* weights =
        &plan.fixed_weights[index * static_cast<std::size_t>(plan.max_taps)];
    const int taps = plan.taps[index];
    const std::uint16_t* source =
        columns + std::ptrdiff_t{plan.first[index]} * kChannels * kStripRows;
    // MulHigh drops the fraction: half a unit per tap on average, given back here with the 0.5
    // that rounds the result.
    const auto start = hn::Set(d, static_cast<std::uint16_t>(128 + taps / 2));
    hn::Vec<decltype(d)> sum[kChannels * kVectors];
    for (auto& lanes : sum) lanes = start;
    for (int tap = 0; tap < taps; ++tap, source += kChannels * kStripRows) {
      const auto weight = hn::Set(d, weights[tap]);
      for (int i = 0; i < kChannels * kVectors; ++i) {
        sum[i] = hn::Add(sum[i], hn::MulHigh(hn::Load(d, source + i * kLanes), weight));
      }
    }
    std::uint8_t* out = resized + std::ptrdiff_t{output} * kChannels * kStripRows;
    for (int i = 0; i < kChannels * kVectors; ++i) {
      const auto rounded = hn::BitCast(d_signed, hn::ShiftRight<8>(sum[i]));
      hn::StoreU(hn::DemoteTo(d_byte, rounded), d_byte, out + i * kLanes);
    }
  }
}

/// resized[c * kStripRows + r] -> out_rows[r][c].
HWY_NOINLINE void narrow_columns(const std::uint8_t* HWY_RESTRICT resized, int bytes,
                                 std::uint8_t* const* out_rows) {
  const TileTag d;
  for (int byte = 0; byte < bytes; byte += 16) {
    for (int pass = 0; pass < kTilePasses; ++pass) {
      TileVector v[16];
      for (int i = 0; i < 16; ++i) {
        v[i] = hn::LoadU(d, resized + (byte + i) * kStripRows + pass * 16);
      }
      transpose_tile(v);
      for (int i = 0; i < 16; ++i) {
        const int row = pass * 16 + i;
        store_blocks(v[i], out_rows[row] + byte, out_rows[(row + 16) % kStripRows] + byte);
      }
    }
  }
}

void resize_strip_simd(const std::uint8_t* const* rows, const AxisPlan& plan,
                       const StripScratch& scratch, std::uint8_t* const* out_rows) {
  widen_columns(rows, padded_bytes(plan.source_count), scratch.columns);
  sum_columns(scratch.columns, plan, scratch.resized);
  narrow_columns(scratch.resized, padded_bytes(plan.count), out_rows);
}

/// One vector of the blend. Even and odd bytes are summed apart, each as value * 256 in 16 bits.
HWY_INLINE hn::Vec<hn::ScalableTag<std::uint8_t>> blend_vector(const RowBlend& blend, int byte) {
  const hn::ScalableTag<std::uint8_t> d;
  const hn::Repartition<std::uint16_t, decltype(d)> d16;
  const auto odd_bytes = hn::Set(d16, 0xFF00);
  auto even = hn::Set(d16, static_cast<std::uint16_t>(128 + blend.taps / 2));
  auto odd = even;
  for (int tap = 0; tap < blend.taps; ++tap) {
    const auto weight = hn::Set(d16, blend.fixed_weights[tap]);
    const auto samples = hn::BitCast(d16, hn::LoadU(d, blend.rows[tap] + byte));
    even = hn::Add(even, hn::MulHigh(hn::ShiftLeft<8>(samples), weight));
    odd = hn::Add(odd, hn::MulHigh(hn::And(samples, odd_bytes), weight));
  }
  return hn::BitCast(d, hn::Or(hn::ShiftRight<8>(even), hn::And(odd, odd_bytes)));
}

void blend_rows_simd(const RowBlend& blend, std::uint8_t* out) {
  const hn::ScalableTag<std::uint8_t> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  if (blend.bytes < lanes) return blend_rows_plain(blend, out);
  int byte = 0;
  for (; byte + lanes <= blend.bytes; byte += lanes) {
    hn::StoreU(blend_vector(blend, byte), d, out + byte);
  }
  // The rest overlaps with what is already written, with the same values.
  if (byte < blend.bytes) {
    byte = blend.bytes - lanes;
    hn::StoreU(blend_vector(blend, byte), d, out + byte);
  }
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace unstarve::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace unstarve::kernels {

HWY_EXPORT(resize_strip_simd);
HWY_EXPORT(blend_rows_simd);

void resize_strip(const std::uint8_t* const* rows, const AxisPlan& plan,
                  const StripScratch& scratch, std::uint8_t* const* out_rows) {
  HWY_DYNAMIC_DISPATCH(resize_strip_simd)(rows, plan, scratch, out_rows);
}

void blend_rows(const RowBlend& blend, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(blend_rows_simd)(blend, out);
}

}  // namespace unstarve::kernels
#endif  // HWY_ONCE
