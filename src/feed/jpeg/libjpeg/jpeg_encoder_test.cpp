#include "feed/jpeg/libjpeg/jpeg_encoder.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "feed/jpeg/libjpeg/jpeg_decoder.h"
#include "feed/testing/collected_rows.h"

namespace unstarve::feed {
namespace {

constexpr ImageSize kSize = {70, 45};

/// A slope in each channel, which JPEG keeps well.
std::vector<std::uint8_t> slopes() {
  std::vector<std::uint8_t> pixels;
  for (int y = 0; y < kSize.height; ++y) {
    for (int x = 0; x < kSize.width; ++x) {
      for (const int value : {3 * x, 5 * y, x + y}) {
        pixels.push_back(static_cast<std::uint8_t>(value));
      }
    }
  }
  return pixels;
}

TEST(JpegEncoder, WhatIsEncodedIsDecodedAgain) {
  const std::vector<std::uint8_t> pixels = slopes();
  std::vector<std::byte> jpeg;
  ASSERT_TRUE(encode_jpeg(pixels, kSize, 95, jpeg));
  auto decoder = JpegDecoder::create({});
  ASSERT_TRUE(decoder);
  const auto decoded = test::decode_region(*decoder, jpeg, Box{0, 0, kSize.width, kSize.height});
  ASSERT_TRUE(decoded) << decoded.error().message;
  ASSERT_EQ(decoded->size(), pixels.size());
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    ASSERT_LE(std::abs(int{(*decoded)[i]} - int{pixels[i]}), 12) << i;
  }
}

TEST(JpegEncoder, AHigherQualityTakesMoreBytes) {
  std::vector<std::byte> low;
  std::vector<std::byte> high;
  ASSERT_TRUE(encode_jpeg(slopes(), kSize, 50, low));
  ASSERT_TRUE(encode_jpeg(slopes(), kSize, 96, high));
  EXPECT_LT(low.size(), high.size());
}

TEST(JpegEncoder, PixelsOfAnotherSizeAreRefused) {
  std::vector<std::byte> jpeg;
  const std::vector<std::uint8_t> pixels = slopes();
  EXPECT_FALSE(encode_jpeg(pixels, {70, 46}, 90, jpeg));
  EXPECT_FALSE(encode_jpeg(pixels, {-70, -45}, 90, jpeg));
  EXPECT_FALSE(encode_jpeg(std::vector<std::uint8_t>(70'000 * 3), {70'000, 1}, 90, jpeg));
}

}  // namespace
}  // namespace unstarve::feed
