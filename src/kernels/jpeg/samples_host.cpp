// The plain references of the transform, the upsampling and the colour conversion.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "kernels/jpeg/colour.h"
#include "kernels/jpeg/inverse_dct.h"
#include "kernels/jpeg/inverse_dct_constants.h"
#include "kernels/jpeg/upsample.h"

namespace unstarve::kernels {
namespace {

constexpr int kSide = kBlockSize;
using Values = std::array<std::int16_t, kBlockSamples>;

std::int16_t wrap16(int value) { return static_cast<std::int16_t>(value); }

std::int16_t saturate16(int value) {
  return static_cast<std::int16_t>(std::clamp(value, INT16_MIN, INT16_MAX));
}

/// a * factor_a + b * factor_b. Sums of these may wrap, so they are taken without sign.
std::uint32_t pair(int a, int factor_a, int b, int factor_b) {
  return static_cast<std::uint32_t>(a * factor_a) + static_cast<std::uint32_t>(b * factor_b);
}

/// Transforms the eight values that lie `step` apart from `v` on.
void transform_eight(std::int16_t* v, int step, int shift) {
  const auto in = [&](int i) { return int{v[i * step]}; };
  const std::uint32_t tmp3 = pair(in(2), kF0541 + kF0765, in(6), kF0541);
  const std::uint32_t tmp2 = pair(in(2), kF0541, in(6), kF0541 - kF1847);
  const std::uint32_t tmp0 = pair(wrap16(in(0) + in(4)), 8192, 0, 0);
  const std::uint32_t tmp1 = pair(wrap16(in(0) - in(4)), 8192, 0, 0);

  const int z3 = wrap16(in(7) + in(3));
  const int z4 = wrap16(in(5) + in(1));
  const std::uint32_t y3 = pair(z3, kF1175 - kF1961, z4, kF1175);
  const std::uint32_t y4 = pair(z3, kF1175, z4, kF1175 - kF0390);

  const std::array<std::uint32_t, 4> even = {tmp0 + tmp3, tmp1 + tmp2, tmp1 - tmp2, tmp0 - tmp3};
  const std::array<std::uint32_t, 4> odd = {y4 + pair(in(7), -kF0899, in(1), kF1501 - kF0899),
                                            y3 + pair(in(5), -kF2562, in(3), kF3072 - kF2562),
                                            y4 + pair(in(5), kF2053 - kF2562, in(3), -kF2562),
                                            y3 + pair(in(7), kF0298 - kF0899, in(1), -kF0899)};
  const std::uint32_t half = std::uint32_t{1} << (shift - 1);
  for (int i = 0; i < 4; ++i) {
    const auto k = static_cast<std::size_t>(i);
    v[i * step] = saturate16(static_cast<std::int32_t>(even[k] + odd[k] + half) >> shift);
    v[(7 - i) * step] = saturate16(static_cast<std::int32_t>(even[k] - odd[k] + half) >> shift);
  }
}

std::uint8_t to_byte(int value) { return static_cast<std::uint8_t>(value); }

// By 2^16, rounded, as in jdcolor.c.
constexpr int kRedOfCr = 91881;     // 1.40200
constexpr int kGreenOfCb = -22554;  // -0.34414
constexpr int kGreenOfCr = -46802;  // -0.71414
constexpr int kBlueOfCb = 116130;   // 1.77200
constexpr int kHalf = 1 << 15;

std::uint8_t clamp_to_byte(int value) {
  return static_cast<std::uint8_t>(std::clamp(value, 0, 255));
}

}  // namespace

void inverse_dct_plain(const std::int16_t* coefficients, const std::uint16_t* quantisation,
                       std::uint8_t* out, std::ptrdiff_t stride) {
  Values v;
  for (std::size_t i = 0; i < v.size(); ++i) {
    v[i] = wrap16(coefficients[i] * quantisation[i]);
  }
  // libjpeg-turbo takes a short cut here, which wraps where the transform would saturate.
  if (std::all_of(coefficients + kSide, coefficients + kBlockSamples,
                  [](std::int16_t c) { return c == 0; })) {
    for (std::size_t i = 0; i < kSide; ++i) v[i] = wrap16(v[i] * 4);
    for (std::size_t i = kSide; i < v.size(); ++i) v[i] = v[i % kSide];
  } else {
    for (int column = 0; column < kSide; ++column) {
      transform_eight(v.data() + column, kSide, kColumnShift);
    }
  }
  for (int row = 0; row < kSide; ++row) {
    transform_eight(v.data() + row * kSide, 1, kRowShift);
    for (int column = 0; column < kSide; ++column) {
      const int sample =
          v[static_cast<std::size_t>(row) * kSide + static_cast<std::size_t>(column)];
      out[row * stride + column] = static_cast<std::uint8_t>(std::clamp(sample, -128, 127) + 128);
    }
  }
}

void upsample_h2v1_plain(const std::uint8_t* row, int count, std::uint8_t* out) {
  for (int i = 0; i < count; ++i) {
    const int nearer = row[i] * 3;
    out[2 * i] = to_byte((nearer + row[i - 1] + 1) >> 2);
    out[2 * i + 1] = to_byte((nearer + row[i + 1] + 2) >> 2);
  }
}

void upsample_h2v2_plain(const RowPair& rows, int count, std::uint8_t* out) {
  const auto column = [&](int i) { return rows.nearer[i] * 3 + rows.farther[i]; };
  for (int i = 0; i < count; ++i) {
    const int nearer = column(i) * 3;
    out[2 * i] = to_byte((nearer + column(i - 1) + 8) >> 4);
    out[2 * i + 1] = to_byte((nearer + column(i + 1) + 7) >> 4);
  }
}

void upsample_h1v2_plain(const RowPair& rows, RowHalf half, int count, std::uint8_t* out) {
  const int bias = half == RowHalf::kUpper ? 1 : 2;
  for (int i = 0; i < count; ++i) {
    out[i] = to_byte((rows.nearer[i] * 3 + rows.farther[i] + bias) >> 2);
  }
}

void replicate(const std::uint8_t* row, int count, int times, std::uint8_t* out) {
  for (int i = 0; i < count; ++i)
    std::memset(out + i * times, row[i], static_cast<std::size_t>(times));
}

void ycc_to_rgb_plain(const PlaneRows& rows, int count, std::uint8_t* out) {
  for (int i = 0; i < count; ++i) {
    const int y = rows.first[i];
    const int cb = rows.second[i] - 128;
    const int cr = rows.third[i] - 128;
    out[3 * i] = clamp_to_byte(y + ((kRedOfCr * cr + kHalf) >> 16));
    out[3 * i + 1] = clamp_to_byte(y + ((kGreenOfCb * cb + kGreenOfCr * cr + kHalf) >> 16));
    out[3 * i + 2] = clamp_to_byte(y + ((kBlueOfCb * cb + kHalf) >> 16));
  }
}

void planes_to_rgb_plain(const PlaneRows& rows, int count, std::uint8_t* out) {
  for (int i = 0; i < count; ++i) {
    out[3 * i] = rows.first[i];
    out[3 * i + 1] = rows.second[i];
    out[3 * i + 2] = rows.third[i];
  }
}

}  // namespace unstarve::kernels
