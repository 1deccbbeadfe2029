#include "feed/webp/webp_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <webp/decode.h>
#include <webp/encode.h>

#include <memory>
#include <random>

#include "feed/testing/collected_rows.h"

namespace unstarve::feed {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kMostWebpPixels = 1 << 20;
constexpr int kWidth = 61;
constexpr int kHeight = 83;

enum class Packing { kLossy, kLossless };

/// Pixels that differ from their neighbours, packed by libwebp's encoder.
std::vector<std::byte> made_webp(Packing packing) {
  std::mt19937 random(11);
  test::Pixels pixels(std::size_t{3} * kWidth * kHeight);
  for (auto& value : pixels) value = static_cast<std::uint8_t>(random());
  std::uint8_t* packed = nullptr;
  const int stride = 3 * kWidth;
  const std::size_t size =
      packing == Packing::kLossy
          ? WebPEncodeRGB(pixels.data(), kWidth, kHeight, stride, 60.0F, &packed)
          : WebPEncodeLosslessRGB(pixels.data(), kWidth, kHeight, stride, &packed);
  const auto* first = reinterpret_cast<const std::byte*>(packed);
  std::vector<std::byte> file(first, first + size);
  WebPFree(packed);
  return file;
}

/// Without a rectangle.
test::Pixels all_of(const std::vector<std::byte>& file) {
  int width = 0;
  int height = 0;
  std::uint8_t* const rgb = WebPDecodeRGB(reinterpret_cast<const std::uint8_t*>(file.data()),
                                          file.size(), &width, &height);
  test::Pixels pixels(rgb, rgb + std::size_t{3} * kWidth * kHeight);
  WebPFree(rgb);
  return pixels;
}

std::string webp_error(const std::vector<std::byte>& file,
                       std::int64_t max_pixels = kMostWebpPixels) {
  WebpDecoder decoder(max_pixels);
  const auto pixels = test::decode_region(decoder, std::span(file), Box{0, 0, 1, 1});
  return pixels ? "" : pixels.error().message;
}

TEST(WebpDecoder, ARectangleHasThePixelsOfTheWhole) {
  for (const Packing packing : {Packing::kLossy, Packing::kLossless}) {
    const auto file = made_webp(packing);
    const test::Pixels whole = all_of(file);
    WebpDecoder decoder(kMostWebpPixels);
    for (const Box& region : {Box{0, 0, kWidth, kHeight}, Box{3, 20, 5, 41}, Box{16, 17, 16, 16},
                              Box{kWidth - 1, kHeight - 1, 1, 1}, Box{1, 1, 1, 1}}) {
      const auto pixels = test::decode_region(decoder, std::span(file), region);
      ASSERT_TRUE(pixels) << pixels.error().message;
      EXPECT_EQ(*pixels, test::cut(whole, kWidth, region)) << region.x << ", " << region.y;
    }
  }
}

TEST(WebpDecoder, AFileThatWasCutIsRefusedWhereverThatWas) {
  for (const Packing packing : {Packing::kLossy, Packing::kLossless}) {
    const auto whole = made_webp(packing);
    for (std::size_t size = 0; size < whole.size(); size += size < 64 ? 1 : 97) {
      const std::vector<std::byte> cut(whole.begin(), whole.begin() + std::ptrdiff_t(size));
      EXPECT_NE(webp_error(cut), "") << size << " bytes";
    }
  }
}

TEST(WebpDecoder, WhatItDoesNotTakeIsRefusedByName) {
  const auto whole = made_webp(Packing::kLossy);
  EXPECT_THAT(webp_error(whole, 60), HasSubstr("more than the 60"));
  std::vector<std::byte> damaged = whole;
  for (std::size_t at = 23; at < 26; ++at) damaged[at] = std::byte{0};  // how its frame begins
  EXPECT_THAT(webp_error(damaged), HasSubstr("damaged"));
  EXPECT_THAT(webp_error({}), HasSubstr("no WebP"));
}

}  // namespace
}  // namespace unstarve::feed
