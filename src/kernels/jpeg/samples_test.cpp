#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "kernels/jpeg/colour.h"
#include "kernels/jpeg/inverse_dct.h"
#include "kernels/jpeg/upsample.h"
#include "kernels/testing/every_target.h"

namespace unstarve::kernels {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Coefficients = std::vector<std::int16_t>;
using Divisors = std::array<std::uint16_t, kBlockSamples>;

class JpegKernels : public test::EveryTarget {
 protected:
  int draw(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  /// Blocks as encoders make them: a few coefficients, most of them small.
  Coefficients plausible_blocks(int count) {
    Coefficients blocks(static_cast<std::size_t>(count) * kBlockSamples, 0);
    for (std::size_t block = 0; block < static_cast<std::size_t>(count); ++block) {
      std::int16_t* first = &blocks[block * kBlockSamples];
      first[0] = static_cast<std::int16_t>(draw(-64, 63));
      for (int left = draw(0, 20); left > 0; --left) {
        first[draw(0, 63)] = static_cast<std::int16_t>(draw(-9, 9));
      }
    }
    return blocks;
  }

  /// Blocks that wrap and saturate everywhere; every other one has nothing below its first row.
  Coefficients extreme_blocks(int count) {
    Coefficients blocks(static_cast<std::size_t>(count) * kBlockSamples, 0);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const bool empty = i / kBlockSamples % 2 == 0 && i % kBlockSamples >= kBlockSize;
      const int limit = i / kBlockSamples % 3 == 0 ? 32767 : 2047;
      if (!empty) blocks[i] = static_cast<std::int16_t>(draw(-limit - 1, limit));
    }
    return blocks;
  }

  Bytes random_bytes(int count) {
    Bytes bytes(static_cast<std::size_t>(count));
    for (auto& byte : bytes) {
      const int kind = draw(0, 3);
      byte = static_cast<std::uint8_t>(kind == 0 ? 0 : kind == 1 ? 255 : draw(0, 255));
    }
    return bytes;
  }

  void expect_same_samples(Coefficients blocks, const Divisors& divisors) {
    const int count = static_cast<int>(blocks.size()) / kBlockSamples;
    blocks.resize(blocks.size() + kBlocksAtOnce * std::size_t{kBlockSamples});
    const std::ptrdiff_t stride = (count + kBlocksAtOnce) * kBlockSize + 5;
    Bytes samples(static_cast<std::size_t>(stride) * kBlockSize);
    inverse_dct({blocks.data(), divisors.data(), count}, samples.data(), stride);
    for (int block = 0; block < count; ++block) {
      Bytes expected(kBlockSamples);
      inverse_dct_plain(&blocks[static_cast<std::size_t>(block * kBlockSamples)], divisors.data(),
                        expected.data(), kBlockSize);
      for (int i = 0; i < kBlockSamples; ++i) {
        const auto at = static_cast<std::size_t>(i / 8 * stride + block * 8 + i % 8);
        ASSERT_EQ(samples[at], expected[static_cast<std::size_t>(i)])
            << "block " << block << " " << i;
      }
    }
  }

  std::mt19937 random_{7};
};

TEST_P(JpegKernels, TransformPlausibleBlocksLikeTheReference) {
  Divisors divisors;
  for (auto& divisor : divisors) divisor = static_cast<std::uint16_t>(draw(1, 60));
  for (const int count : {1, 2, 3, 4, 5, 1000})
    expect_same_samples(plausible_blocks(count), divisors);
}

TEST_P(JpegKernels, TransformExtremeBlocksLikeTheReference) {
  Divisors divisors;
  for (const int limit : {1, 16, 255, 65535}) {
    for (auto& divisor : divisors) divisor = static_cast<std::uint16_t>(draw(1, limit));
    expect_same_samples(extreme_blocks(600), divisors);
  }
}

TEST(InverseDct, IsTheInverseDct) {
  std::mt19937 random(3);
  const auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  Divisors divisors;
  divisors.fill(1);
  for (int repeat = 0; repeat < 200; ++repeat) {
    Coefficients block(kBlockSamples, 0);
    for (auto& value : block) value = static_cast<std::int16_t>(draw(-60, 60));
    block[0] = static_cast<std::int16_t>(draw(-500, 500));
    Bytes samples(kBlockSamples);
    inverse_dct_plain(block.data(), divisors.data(), samples.data(), kBlockSize);
    for (int y = 0; y < 8; ++y) {
      for (int x = 0; x < 8; ++x) {
        double sum = 0;
        for (int v = 0; v < 8; ++v) {
          for (int u = 0; u < 8; ++u) {
            const double scale = (u == 0 ? std::sqrt(0.5) : 1) * (v == 0 ? std::sqrt(0.5) : 1) / 4;
            sum += scale * block[static_cast<std::size_t>(8 * v + u)] *
                   std::cos((2 * x + 1) * u * M_PI / 16) * std::cos((2 * y + 1) * v * M_PI / 16);
          }
        }
        const double expected = std::clamp(sum + 128, 0.0, 255.0);
        ASSERT_NEAR(samples[static_cast<std::size_t>(8 * y + x)], expected, 1.0);
      }
    }
  }
}

TEST_P(JpegKernels, UpsampleLikeTheReference) {
  for (const int count : {1, 2, 3, 15, 16, 17, 31, 32, 33, 64, 65, 333}) {
    const Bytes nearer = random_bytes(count + 2 + kUpsampleSlack);
    const Bytes farther = random_bytes(count + 2 + kUpsampleSlack);
    const RowPair rows = {nearer.data() + 1, farther.data() + 1};
    const auto same = [count](int times, auto&& simd, auto&& plain) {
      const auto size = static_cast<std::size_t>(times * count);
      Bytes actual(size + 2 * kUpsampleSlack);
      Bytes expected(size);
      simd(actual.data());
      plain(expected.data());
      actual.resize(size);
      EXPECT_EQ(actual, expected) << count;
    };
    same(
        2, [&](std::uint8_t* out) { upsample_h2v1(rows.nearer, count, out); },
        [&](std::uint8_t* out) { upsample_h2v1_plain(rows.nearer, count, out); });
    same(
        2, [&](std::uint8_t* out) { upsample_h2v2(rows, count, out); },
        [&](std::uint8_t* out) { upsample_h2v2_plain(rows, count, out); });
    for (const RowHalf half : {RowHalf::kUpper, RowHalf::kLower}) {
      same(
          1, [&](std::uint8_t* out) { upsample_h1v2(rows, half, count, out); },
          [&](std::uint8_t* out) { upsample_h1v2_plain(rows, half, count, out); });
    }
  }
}

TEST(Upsample, RepeatsSamples) {
  const Bytes row = {7, 8, 9};
  Bytes out(12);
  replicate(row.data(), 3, 4, out.data());
  EXPECT_THAT(out, testing::ElementsAre(7, 7, 7, 7, 8, 8, 8, 8, 9, 9, 9, 9));
}

TEST_P(JpegKernels, ConvertEveryColourLikeTheReference) {
  constexpr int kCount = 256;
  Bytes y(kCount + kColourReadSlack);
  Bytes cb(kCount + kColourReadSlack);
  Bytes cr(kCount + kColourReadSlack);
  Bytes actual(3 * kCount + kColourWriteSlack);
  Bytes expected(3 * kCount);
  for (std::size_t i = 0; i < kCount; ++i) y[i] = static_cast<std::uint8_t>(i);
  for (int blue = 0; blue < 256; ++blue) {
    for (int red = 0; red < 256; ++red) {
      std::fill(cb.begin(), cb.end(), static_cast<std::uint8_t>(blue));
      std::fill(cr.begin(), cr.end(), static_cast<std::uint8_t>(red));
      const PlaneRows rows = {y.data(), cb.data(), cr.data()};
      ycc_to_rgb(rows, kCount, actual.data());
      ycc_to_rgb_plain(rows, kCount, expected.data());
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(), actual.begin()))
          << "Cb " << blue << " Cr " << red;
    }
  }
}

TEST_P(JpegKernels, InterleavePlanesOfAnyLength) {
  for (const int count : {1, 2, 15, 16, 17, 63, 64, 65, 200}) {
    const Bytes first = random_bytes(count + kColourReadSlack);
    const Bytes second = random_bytes(count + kColourReadSlack);
    const Bytes third = random_bytes(count + kColourReadSlack);
    const PlaneRows rows = {first.data(), second.data(), third.data()};
    const auto size = static_cast<std::size_t>(3 * count);
    Bytes actual(size + kColourWriteSlack);
    Bytes expected(size);
    planes_to_rgb(rows, count, actual.data());
    planes_to_rgb_plain(rows, count, expected.data());
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), actual.begin())) << count;
    ycc_to_rgb(rows, count, actual.data());
    ycc_to_rgb_plain(rows, count, expected.data());
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), actual.begin())) << count;
  }
}

INSTANTIATE_TEST_SUITE_P(Simd, JpegKernels, testing::ValuesIn(test::every_target()),
                         test::target_name);

}  // namespace
}  // namespace unstarve::kernels
