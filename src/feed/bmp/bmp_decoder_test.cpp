#include "feed/bmp/bmp_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "feed/bmp/testing/made_bmp.h"
#include "feed/testing/collected_rows.h"

namespace unstarve::feed {
namespace {

using test::BmpOptions;
using test::made_bmp;
using ::testing::HasSubstr;

constexpr std::int64_t kMaxPixels = 1 << 20;

test::Pixels expected(const Box& region, int bits) {
  test::Pixels pixels;
  for (int y = region.y; y < region.y + region.height; ++y) {
    for (int x = region.x; x < region.x + region.width; ++x) {
      const auto colour = test::made_colour(x, y, bits);
      pixels.insert(pixels.end(), colour.begin(), colour.end());
    }
  }
  return pixels;
}

std::string error_of(const std::vector<std::byte>& file, std::int64_t max_pixels = kMaxPixels) {
  BmpDecoder decoder(max_pixels);
  const auto size = decoder.open(file);
  return size ? "" : size.error().message;
}

TEST(BmpDecoder, GivesTheRowsOfARegionFromTheTop) {
  for (const std::uint16_t bits : {std::uint16_t{8}, std::uint16_t{24}, std::uint16_t{32}}) {
    for (const int height : {70, -70}) {  // more than a strip of rows
      const auto file = made_bmp({.width = 9, .height = height, .bits = bits});
      BmpDecoder decoder(kMaxPixels);
      for (const Box& region : {Box{0, 0, 9, 70}, Box{3, 20, 5, 41}, Box{8, 69, 1, 1}}) {
        const auto pixels = test::decode_region(decoder, std::span(file), region);
        ASSERT_TRUE(pixels) << pixels.error().message;
        EXPECT_EQ(*pixels, expected(region, bits)) << bits << " bits, height " << height;
      }
    }
  }
}

TEST(BmpDecoder, LaterHeadersAreLonger) {
  const auto file = made_bmp({.header_bytes = 124});
  BmpDecoder decoder(kMaxPixels);
  const auto pixels = test::decode_region(decoder, std::span(file), Box{0, 0, 5, 3});
  ASSERT_TRUE(pixels) << pixels.error().message;
  EXPECT_EQ(*pixels, expected({0, 0, 5, 3}, 24));
}

TEST(BmpDecoder, AFileThatWasCutIsRefusedWhereverThatWas) {
  for (const std::uint16_t bits : {std::uint16_t{8}, std::uint16_t{24}, std::uint16_t{32}}) {
    const auto whole = made_bmp({.bits = bits});
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const std::vector<std::byte> cut(whole.begin(), whole.begin() + std::ptrdiff_t(size));
      EXPECT_NE(error_of(cut), "") << bits << " bits, " << size << " bytes";
    }
  }
}

TEST(BmpDecoder, WhatItDoesNotKnowIsRefusedByName) {
  EXPECT_THAT(error_of(made_bmp({.compression = 1})), HasSubstr("compression 1"));
  EXPECT_THAT(error_of(made_bmp({.bits = 16})), HasSubstr("16 bits a pixel"));
  EXPECT_THAT(error_of(made_bmp({.header_bytes = 12})), HasSubstr("OS/2"));
}

TEST(BmpDecoder, HeadersThatLieAreRefused) {
  EXPECT_THAT(error_of(made_bmp({.width = 0})), HasSubstr("0 x 3"));
  auto huge = made_bmp({});
  const std::int32_t width = 0x7FFFFFFF;
  std::memcpy(huge.data() + 18, &width, sizeof(width));
  EXPECT_THAT(error_of(huge), HasSubstr("more than the"));
  const std::int32_t least = INT32_MIN;
  std::memcpy(huge.data() + 22, &least, sizeof(least));
  EXPECT_THAT(error_of(huge), HasSubstr("more than the"));
  auto elsewhere = made_bmp({});
  const std::uint32_t at = 0xFFFFFFFF;
  std::memcpy(elsewhere.data() + 10, &at, sizeof(at));
  EXPECT_THAT(error_of(elsewhere), HasSubstr("cut short"));
  auto colours = made_bmp({.bits = 8});
  const std::uint32_t many = 257;
  std::memcpy(colours.data() + 46, &many, sizeof(many));
  EXPECT_THAT(error_of(colours), HasSubstr("257 colours"));
  EXPECT_THAT(error_of(made_bmp({}), 14), HasSubstr("more than the 14"));
}

TEST(BmpDecoder, AColourThatThePaletteLacksIsAnError) {
  const auto file = made_bmp({.width = 1, .height = 2, .bits = 8, .colours = 10});
  BmpDecoder decoder(kMaxPixels);
  const auto pixels = test::decode_region(decoder, std::span(file), Box{0, 0, 1, 2});
  ASSERT_FALSE(pixels);  // the second row's is 31
  EXPECT_THAT(pixels.error().message, HasSubstr("colour 31 of a palette of 10"));
}

}  // namespace
}  // namespace unstarve::feed
